"""Games written down: records that replay, and states as text."""
