"""Tests of the faces of the environment."""
