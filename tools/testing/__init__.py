"""How `make test` and `make check` run: who runs what, and where a run is."""
