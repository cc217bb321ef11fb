"""Short programs that train or play with libraries of others; each is a module that runs."""
