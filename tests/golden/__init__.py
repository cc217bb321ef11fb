"""Golden files: whole games as text, counts of action sequences, and the signature, as they were when last looked at.

``python -m tests.golden.regenerate`` writes them anew; the difference is read before it is committed.
"""
