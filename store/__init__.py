"""The store: records, their schema, the database and search. Imports nothing else of ours."""
