"""Repetitions computed: on threads of this process, on a cluster, or some of them again to verify stored results."""
