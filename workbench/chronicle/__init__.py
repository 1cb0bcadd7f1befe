"""Closed stretches of a stream as prose that cites its events (contract log-and-chronicle, §8-11)."""
