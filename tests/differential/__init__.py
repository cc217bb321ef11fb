"""Engine and slow twin played side by side, and compared position by position.

``rulesets``   rules drawn at random, from small changes of a rulebook to small decks
``policies``   which legal action is played next
``positions``  positions built by hand of chance, such as play at random does not reach
``counts``     what has been compared, and of what sort
``compare``    the walk through positions, and the reproduction of a disagreement
"""
