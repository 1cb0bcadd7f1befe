"""The parts of the Handoffs screen: the list of tasks, the five sides of one, and what can be done there."""
