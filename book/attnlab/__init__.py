"""The code that the chapters build, in rooms: each imports only from the floors below it.

floor 0   runtime, claims, shapes
floor 1   scores, masks, positions, plots, explore, text, distributed_worker
floor 2   attention, training
floor 3   layers
floor 4   exercises
"""
