-- Store new memories.

-- name: last_of_sessions
-- The last memory of each of these sessions that has one.
-- parameters: space, sessions (JSON list)
-- columns: session, number, id, fires
SELECT e.session, e.number, e.id, e.fires
FROM json_each(:sessions) AS asked
CROSS JOIN episodes AS e ON e.number = (
    SELECT last.number FROM episodes AS last
    WHERE last.space = :space AND last.session = asked.value AND last.session IS NOT NULL
    ORDER BY last.number DESC LIMIT 1
)

-- name: episode
-- One memory.
-- parameters: in the order of the columns
INSERT INTO episodes (
    number, space, id, text, role, speaker, session, at, recorded_at, expires_at, metadata, keywords, terms,
    speaker_terms, length, embedded, previous, archived_at, fires, uses, last_used_at, version, asks
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)

-- name: vector
-- The vector of a memory or cue.
-- parameters: number, vector
INSERT OR REPLACE INTO vectors (number, vector) VALUES (?, ?)

-- name: posting
-- One word of a memory.
-- parameters: space, term, episode, tf
INSERT INTO postings (space, term, episode, tf) VALUES (?, ?, ?, ?)

-- name: link
-- A link, in place of an earlier one between the same ends.
-- parameters: in the order of the columns
INSERT OR REPLACE INTO links (
    space, kind, source, target, weight, step, source_fires, target_fires, count, since, last_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
