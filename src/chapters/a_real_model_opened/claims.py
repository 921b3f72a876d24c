"""The checks of the chapter, a function for each place where its page says how many hold."""
