"""Players of Scala 40: uniform, greedy and better ones, and the compiled loop in which they play whole games.

``registry.make`` makes an agent from its name; ``base.Agent`` says what an agent is.
"""
