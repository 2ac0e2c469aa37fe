"""The estimator: scikit-learn's own tests and checks, then ours."""
