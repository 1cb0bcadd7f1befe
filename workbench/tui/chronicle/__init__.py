"""The parts of the Chronicle screen."""
