"""The engine, and what runs on it: repetitions of experiments, the arena's trials, the check of stored results."""
