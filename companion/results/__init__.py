"""What repetitions leave behind: stored one by one, kept in one file with its provenance, compared, summed up."""
