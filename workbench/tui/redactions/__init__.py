"""The parts of the Redactions screen."""
