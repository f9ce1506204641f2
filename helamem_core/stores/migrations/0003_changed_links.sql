-- What readers keep of links and of the clocks of their ends: `links` counts the changes of them, a cache older than
-- `links_horizon` must be read anew, and `relinked` names the nodes that the last changes touched.
ALTER TABLE spaces ADD COLUMN links INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spaces ADD COLUMN links_horizon INTEGER NOT NULL DEFAULT 0;
CREATE TABLE relinked (
    space INTEGER NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (space, version, number)
) WITHOUT ROWID;

PRAGMA user_version = 3;
