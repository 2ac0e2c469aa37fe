"""Results of repetitions: in one file with their provenance, compared, and summarised."""
