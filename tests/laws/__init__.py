"""Laws that hold in every position."""
