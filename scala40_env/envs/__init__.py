"""The faces of the environment: what learners drive."""
