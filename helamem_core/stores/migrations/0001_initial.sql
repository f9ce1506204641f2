-- The first schema. All numbers of memories and cues come from one sequence, `file.last_number`, and are never
-- used twice, so that other processes can forget by number what was erased. The order of numbers is the order in
-- which things were remembered.

-- What belongs to the file as a whole: one row. Erased bytes are gone from the file once purged = erasures.
CREATE TABLE file (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    last_number INTEGER NOT NULL,
    erasures INTEGER NOT NULL,
    purged INTEGER NOT NULL
);
INSERT INTO file VALUES (1, 0, 0, 0);

-- `version` counts writes of what readers cache; a cache older than `horizon` must be read anew.
CREATE TABLE spaces (
    space INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    steps INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 0,
    horizon INTEGER NOT NULL DEFAULT 0,
    model TEXT,
    dimension INTEGER,
    normalised INTEGER
);

-- `version`: the space's version when a cached column last changed.
CREATE TABLE episodes (
    number INTEGER PRIMARY KEY,
    space INTEGER NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    role TEXT NOT NULL,
    speaker TEXT,
    session TEXT,
    at REAL NOT NULL,
    recorded_at REAL NOT NULL,
    expires_at REAL,
    metadata TEXT NOT NULL,
    keywords TEXT NOT NULL,
    terms TEXT NOT NULL,
    speaker_terms TEXT NOT NULL,
    length INTEGER NOT NULL,
    embedded INTEGER NOT NULL,
    previous INTEGER,
    archived_at REAL,
    fires INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    last_used_at REAL,
    version INTEGER NOT NULL,
    UNIQUE (space, id)
);
CREATE INDEX episodes_version ON episodes (space, version);
CREATE INDEX episodes_session ON episodes (space, session) WHERE session IS NOT NULL;
CREATE INDEX episodes_previous ON episodes (previous) WHERE previous IS NOT NULL;
CREATE INDEX episodes_pending ON episodes (space) WHERE embedded = 0;

-- Little-endian float32 of memories and cues, apart from the texts so that either can be read without the other.
CREATE TABLE vectors (number INTEGER PRIMARY KEY, vector BLOB NOT NULL);

-- Vectors of another model, kept until it is adopted.
CREATE TABLE staged (
    number INTEGER PRIMARY KEY,
    space INTEGER NOT NULL,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    normalised INTEGER NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX staged_space ON staged (space);

-- The words of active memories.
CREATE TABLE postings (
    space INTEGER NOT NULL,
    term TEXT NOT NULL,
    episode INTEGER NOT NULL,
    tf INTEGER NOT NULL,
    PRIMARY KEY (space, term, episode)
) WITHOUT ROWID;

-- The source of a CUED link is a cue or a memory; all other ends are memories. Undirected kinds are kept once, from
-- the smaller id to the greater.
CREATE TABLE links (
    space INTEGER NOT NULL,
    source INTEGER NOT NULL,
    kind TEXT NOT NULL,
    target INTEGER NOT NULL,
    weight REAL NOT NULL,
    step INTEGER NOT NULL,
    source_fires INTEGER NOT NULL,
    target_fires INTEGER NOT NULL,
    count INTEGER NOT NULL,
    since REAL NOT NULL,
    last_at REAL NOT NULL,
    PRIMARY KEY (space, source, kind, target)
) WITHOUT ROWID;
CREATE INDEX links_target ON links (space, target, kind);

CREATE TABLE cues (
    number INTEGER PRIMARY KEY,
    space INTEGER NOT NULL,
    id TEXT NOT NULL,
    text TEXT,
    embedded INTEGER NOT NULL,
    fires INTEGER NOT NULL,
    last_at REAL NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (space, id)
);
CREATE INDEX cues_version ON cues (space, version);
CREATE INDEX cues_last_at ON cues (space, last_at, id);

CREATE TABLE events (space INTEGER NOT NULL, id TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (space, id)) WITHOUT ROWID;
CREATE INDEX events_at ON events (space, at);

-- Numbers only: by them other processes' caches learn what is gone.
CREATE TABLE erased (
    space INTEGER NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (space, version, number)
) WITHOUT ROWID;

PRAGMA application_id = 0x48654C61;
PRAGMA user_version = 1;
