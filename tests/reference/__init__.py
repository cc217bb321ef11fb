"""The slow twin: the whole rules of Scala 40 again, in plain Python that tries everything.

It shares with the engine only the ids of the cards, the record of the rules and the numbers of the actions; every
judgement is made again here, slowly and in the obvious way, so that the two can be compared position by position.

``melds``          what a meld is, what it is worth, what fits onto it
``state``          everything that is on and around the table
``plays``          the plays of a turn one by one, and what the turn still owes
``legality``       which actions are legal, by trying every way to finish the turn
``scoring``        the points of a round, and what becomes of the match
``rules_of_play``  ``apply``: what an action does, up to the end of the round
``adapter``        the twin's state from a row of the engine, and where the two differ
``scenario``       the cases of the rulebook, put to the twin
``cases``          positions made by hand, for the twin's own tests
``random_play``    rounds played at random, under rules drawn at random
"""
