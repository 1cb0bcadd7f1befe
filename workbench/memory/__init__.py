"""Shared memory: observations, facts with supersession, checkpoints, tasks, reviews (contract memory)."""
