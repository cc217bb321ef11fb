"""Learning to play Scala 40, and measuring who plays it better."""
