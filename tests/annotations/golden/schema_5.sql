BEGIN TRANSACTION;
CREATE TABLE annotators (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            token_hash TEXT UNIQUE,
            added DOUBLE PRECISION NOT NULL,
            retired DOUBLE PRECISION);
INSERT INTO "annotators" VALUES(1,'Ana','3d4ee2c2c5688ef85fd7e49d2e45fa8c1a2df490ae0b9e0a119fa9c9e33ba55f',1000000.0,NULL);
INSERT INTO "annotators" VALUES(2,'Bo',NULL,1000000.0,1000005.0);
CREATE TABLE claims (
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            item TEXT NOT NULL REFERENCES items (id),
            position INTEGER NOT NULL,
            pool INTEGER NOT NULL,
            claimed DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (annotator, item),
            UNIQUE (annotator, position));
INSERT INTO "claims" VALUES(1,'1et-tWuglj_AP3OxRPrQrA',0,1,1000000.0);
INSERT INTO "claims" VALUES(1,'vGlOpXjXMDSgPNP-zFW9Lg',1,0,1000000.0);
INSERT INTO "claims" VALUES(1,'BQTQDeu7qtF0PalVkDDnNA',2,0,1000000.0);
INSERT INTO "claims" VALUES(2,'1et-tWuglj_AP3OxRPrQrA',0,1,1000005.0);
INSERT INTO "claims" VALUES(2,'vGlOpXjXMDSgPNP-zFW9Lg',1,0,1000005.0);
INSERT INTO "claims" VALUES(2,'BQTQDeu7qtF0PalVkDDnNA',2,0,1000005.0);
CREATE TABLE copies (
            continuation TEXT PRIMARY KEY,
            item TEXT NOT NULL REFERENCES items (id),
            agent TEXT NOT NULL,
            sees TEXT NOT NULL);
INSERT INTO "copies" VALUES('c0','vGlOpXjXMDSgPNP-zFW9Lg','random','observation');
INSERT INTO "copies" VALUES('c1','BQTQDeu7qtF0PalVkDDnNA','random','observation');
INSERT INTO "copies" VALUES('c9','1et-tWuglj_AP3OxRPrQrA','random','observation');
CREATE TABLE decisions (
            draft TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number >= 1),
            uuid TEXT NOT NULL,
            candidate TEXT NOT NULL,
            kind TEXT NOT NULL,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            follows TEXT NOT NULL,
            scenario TEXT NOT NULL,
            detail TEXT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (draft, number),
            UNIQUE (draft, uuid));
CREATE TABLE events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            item TEXT NOT NULL REFERENCES items (id),
            verdict TEXT NOT NULL
                CHECK (verdict IN ('success', 'failure', 'not_done', 'cannot_judge')),
            step INTEGER CHECK (step >= 1),
            reason TEXT NOT NULL,
            watched DOUBLE PRECISION,
            seconds DOUBLE PRECISION,
            corrects TEXT,
            extra INTEGER NOT NULL,
            source TEXT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            UNIQUE (annotator, uuid),
            CHECK ((step IS NOT NULL) = (verdict IN ('success', 'failure'))));
INSERT INTO "events" VALUES(1,'00000000000000000000000000000000',1,'vGlOpXjXMDSgPNP-zFW9Lg','success',7,'',1.0,4.5,NULL,0,'browser',1000000.0);
INSERT INTO "events" VALUES(2,'00000000000000000000000000000001',1,'BQTQDeu7qtF0PalVkDDnNA','cannot_judge',NULL,'the map is dark',1.0,4.5,NULL,0,'browser',1000000.0);
INSERT INTO "events" VALUES(3,'00000000000000000000000000000002',1,'vGlOpXjXMDSgPNP-zFW9Lg','success',8,'',1.0,4.5,'00000000000000000000000000000000',0,'browser',1000005.0);
INSERT INTO "events" VALUES(4,'00000000000000000000000000000003',1,'1et-tWuglj_AP3OxRPrQrA','failure',5,'',1.0,4.5,NULL,0,'browser',1000005.0);
INSERT INTO "events" VALUES(5,'00000000000000000000000000000004',2,'BQTQDeu7qtF0PalVkDDnNA','not_done',NULL,'',1.0,4.5,NULL,0,'browser',1000005.0);
CREATE TABLE item_players (
            item TEXT NOT NULL REFERENCES items (id),
            name TEXT NOT NULL,
            PRIMARY KEY (name, item));
CREATE TABLE item_suites (
            suite TEXT NOT NULL,
            item TEXT NOT NULL REFERENCES items (id),
            PRIMARY KEY (suite, item));
INSERT INTO "item_suites" VALUES('starter@1','BQTQDeu7qtF0PalVkDDnNA');
INSERT INTO "item_suites" VALUES('starter@1','vGlOpXjXMDSgPNP-zFW9Lg');
CREATE TABLE items (
            id TEXT PRIMARY KEY,
            continuation TEXT NOT NULL UNIQUE,
            scenario TEXT NOT NULL,
            scenario_hash TEXT NOT NULL,
            category TEXT NOT NULL,
            kind TEXT NOT NULL,
            horizon INTEGER NOT NULL CHECK (horizon >= 1),
            takeover INTEGER NOT NULL CHECK (takeover >= 0),
            required INTEGER NOT NULL,
            draw BIGINT NOT NULL,
            added DOUBLE PRECISION NOT NULL, clip TEXT);
INSERT INTO "items" VALUES('vGlOpXjXMDSgPNP-zFW9Lg','c0','s0','abababababababababababababababababababababababababababababababab','go-to-good','instruction',40,20,2,1446399900,1000000.0,'c0');
INSERT INTO "items" VALUES('BQTQDeu7qtF0PalVkDDnNA','c1','s0','abababababababababababababababababababababababababababababababab','go-to-good','instruction',40,20,2,2133685983,1000000.0,'c1');
INSERT INTO "items" VALUES('1et-tWuglj_AP3OxRPrQrA','c9','s9','abababababababababababababababababababababababababababababababab','go-to-good','instruction',40,20,0,1045045070,1000000.0,'c9');
CREATE TABLE reference_episodes (
            item TEXT PRIMARY KEY REFERENCES items (id),
            truth TEXT NOT NULL,
            step INTEGER,
            note TEXT NOT NULL,
            added DOUBLE PRECISION NOT NULL);
INSERT INTO "reference_episodes" VALUES('1et-tWuglj_AP3OxRPrQrA','failure',4,'fell into Evil',1000000.0);
CREATE TABLE refused (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            digest TEXT NOT NULL,
            raw TEXT NOT NULL,
            message TEXT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            UNIQUE (annotator, digest));
INSERT INTO "refused" VALUES(1,2,'a095326e97b56c350835e6f3e7c729a13545d5c68a9d5f77b1959771ac391918','{"uuid": "bad"}','expected uuid of 32 hexadecimal digits, found ''bad''',1000005.0);
CREATE TABLE roles (
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            role TEXT NOT NULL CHECK (role IN ('annotator', 'reviewer', 'curator', 'lead')),
            added DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (annotator, role));
INSERT INTO "roles" VALUES(1,'annotator',1000000.0);
INSERT INTO "roles" VALUES(2,'annotator',1000000.0);
CREATE TABLE slots (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            item TEXT NOT NULL REFERENCES items (id),
            slot INTEGER NOT NULL,
            annotator BIGINT REFERENCES annotators (id),
            lease_until DOUBLE PRECISION,
            judged INTEGER NOT NULL DEFAULT 0,
            UNIQUE (item, slot),
            UNIQUE (item, annotator));
INSERT INTO "slots" VALUES(1,'BQTQDeu7qtF0PalVkDDnNA',1,1,NULL,1);
INSERT INTO "slots" VALUES(2,'BQTQDeu7qtF0PalVkDDnNA',2,2,NULL,1);
INSERT INTO "slots" VALUES(3,'vGlOpXjXMDSgPNP-zFW9Lg',1,1,NULL,1);
INSERT INTO "slots" VALUES(4,'vGlOpXjXMDSgPNP-zFW9Lg',2,NULL,NULL,0);
CREATE TABLE sts_schema (
	version INTEGER NOT NULL, 
	applied DOUBLE NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "sts_schema" VALUES(1,1.79525119945596623423e+09);
INSERT INTO "sts_schema" VALUES(2,1795334400.0);
INSERT INTO "sts_schema" VALUES(3,1795334400.0);
INSERT INTO "sts_schema" VALUES(4,1795334400.0);
INSERT INTO "sts_schema" VALUES(5,1.79536913421547555925e+09);
CREATE TABLE sts_workspace (id TEXT PRIMARY KEY);
INSERT INTO "sts_workspace" VALUES('5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e');
CREATE INDEX slots_open ON slots (item, annotator, lease_until) WHERE judged = 0;
CREATE INDEX slots_of_annotator ON slots (annotator, judged);
CREATE INDEX events_of_item ON events (item, annotator, id);
CREATE INDEX events_of_annotator ON events (annotator, id);
CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events
            BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
            BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE INDEX decisions_of_candidate ON decisions (draft, candidate, number);
CREATE TRIGGER decisions_are_never_updated BEFORE UPDATE ON decisions
            BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decisions_are_never_deleted BEFORE DELETE ON decisions
            BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE UNIQUE INDEX items_of_clip ON items (clip);
CREATE INDEX copies_of_item ON copies (item);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('slots',4);
INSERT INTO "sqlite_sequence" VALUES('annotators',2);
INSERT INTO "sqlite_sequence" VALUES('events',5);
INSERT INTO "sqlite_sequence" VALUES('refused',1);
COMMIT;
