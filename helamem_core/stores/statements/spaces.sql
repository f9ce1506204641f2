-- Spaces, and the counters of the file.

-- name: find
-- One space by its name, which compares exactly.
-- parameters: name
-- columns: space, steps, version, horizon, links, links_horizon, model, dimension, normalised
SELECT space, steps, version, horizon, links, links_horizon, model, dimension, normalised
FROM spaces WHERE name = :name

-- name: make
-- A new space.
-- parameters: name
INSERT INTO spaces (name) VALUES (:name) ON CONFLICT DO NOTHING

-- name: names
-- All spaces.
-- columns: name
SELECT name FROM spaces ORDER BY name

-- name: bind
-- The model whose vectors the space holds.
-- parameters: space, model, dimension, normalised
UPDATE spaces SET model = :model, dimension = :dimension, normalised = :normalised WHERE space = :space

-- name: advance
-- The space has changed in what readers cache.
-- parameters: space
UPDATE spaces SET version = version + 1 WHERE space = :space

-- name: start_anew
-- No cache of the space can be brought up to date by its changed rows.
-- parameters: space
UPDATE spaces SET version = version + 1, horizon = version + 1 WHERE space = :space

-- name: set_steps
-- The count of reinforcements.
-- parameters: space, steps
UPDATE spaces SET steps = :steps WHERE space = :space

-- name: drop
-- The space itself; its contents go first.
-- parameters: space
DELETE FROM spaces WHERE space = :space

-- name: last_number
-- The last number given to a memory or cue.
-- columns: last_number
SELECT last_number FROM file

-- name: take_numbers
-- Take so many numbers.
-- parameters: count
UPDATE file SET last_number = last_number + :count

-- name: purge_state
-- Erasures so far, and how many of them left no bytes.
-- columns: erasures, purged
SELECT erasures, purged FROM file

-- name: erased
-- Content was erased or replaced: its bytes must go.
UPDATE file SET erasures = erasures + 1

-- name: purged
-- The bytes of the first so many erasures are gone.
-- parameters: erasures
UPDATE file SET purged = max(purged, :erasures)
