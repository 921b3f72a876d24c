"""The book's colours: each has a name, a value for light pages and one for dark pages."""

# The series are Okabe and Ito's colour-blind-safe hues, darkened or lightened until each has a contrast of
# 3:1 or more with its page.
COLOURS = {
    "ink": ("#1f2430", "#e4e6ea"),
    "faint": ("#d5d8de", "#3d434d"),
    "paper": ("#fefefe", "#14181e"),  # not pure white: that is the colour of numbers on dark cells
    "blue": ("#0067a5", "#62b4e6"),
    "orange": ("#c04a00", "#f0913e"),
    "green": ("#007a58", "#3fc39a"),
    "purple": ("#a3417c", "#dd94bd"),
    "grey": ("#666c77", "#a3a9b3"),
}
SERIES = ("blue", "orange", "green", "purple", "grey")
# What asks, what is found, what is handed out and what comes of it have one colour each, in every picture.
ROLES = {"query": "blue", "key": "orange", "value": "green", "output": "purple"}
