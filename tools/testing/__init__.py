"""How `make test` and `make check` run: who runs what, what is known to pass, where a run is."""
