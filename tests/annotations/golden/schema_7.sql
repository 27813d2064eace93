BEGIN TRANSACTION;
CREATE TABLE addresses (
            annotator BIGINT PRIMARY KEY REFERENCES annotators (id),
            email TEXT NOT NULL UNIQUE);
INSERT INTO "addresses" VALUES(1,'ana@study.example');
CREATE TABLE anchors (
            item TEXT NOT NULL REFERENCES items (id),
            slot INTEGER NOT NULL,
            suite TEXT NOT NULL,
            joined TEXT NOT NULL,
            opened DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (item, slot));
CREATE TABLE annotators (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            token_hash TEXT UNIQUE,
            added DOUBLE PRECISION NOT NULL,
            retired DOUBLE PRECISION, seal BIGINT, pseudonym TEXT);
INSERT INTO "annotators" VALUES(1,'Ana',NULL,1000000.0,NULL,8634483606503969446,'annotator-9f776a');
INSERT INTO "annotators" VALUES(2,'Bo',NULL,1000000.0,1000005.0,6997888444457354933,'annotator-ce5ee9');
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
CREATE TABLE consents (
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            version TEXT NOT NULL,
            agreed DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (annotator, version));
CREATE TABLE controls (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            setting TEXT NOT NULL CHECK (setting IN ('pause', 'priority')),
            scope TEXT NOT NULL,
            person BIGINT REFERENCES annotators (id),
            value INTEGER NOT NULL,
            reason TEXT NOT NULL,
            annotator BIGINT REFERENCES annotators (id),
            made DOUBLE PRECISION NOT NULL);
CREATE TABLE copies (
            continuation TEXT PRIMARY KEY,
            item TEXT NOT NULL REFERENCES items (id),
            agent TEXT NOT NULL,
            sees TEXT NOT NULL, seal BIGINT);
INSERT INTO "copies" VALUES('c0','vGlOpXjXMDSgPNP-zFW9Lg','random','observation',6237780001707869543);
INSERT INTO "copies" VALUES('c1','BQTQDeu7qtF0PalVkDDnNA','random','observation',2921705645714925679);
INSERT INTO "copies" VALUES('c9','1et-tWuglj_AP3OxRPrQrA','random','observation',8273543799857326677);
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
CREATE TABLE "events" (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            item TEXT NOT NULL REFERENCES items (id),
            verdict TEXT CHECK (verdict IN ('success', 'failure', 'not_done', 'cannot_judge')),
            step INTEGER CHECK (step >= 1),
            reason TEXT NOT NULL,
            watched DOUBLE PRECISION,
            seconds DOUBLE PRECISION,
            corrects TEXT,
            extra INTEGER NOT NULL,
            source TEXT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            kind TEXT NOT NULL,
            label TEXT NOT NULL,
            text TEXT NOT NULL,
            words TEXT NOT NULL,
            number BIGINT NOT NULL,
            digest TEXT NOT NULL,
            UNIQUE (annotator, uuid),
            CHECK (kind IN ('verdict', 'correction', 'review', 'adjudication', 'note')), CHECK ((verdict IS NOT NULL) = (kind IN ('verdict', 'correction', 'adjudication'))), CHECK ((step IS NOT NULL) = (verdict IS NOT NULL AND verdict IN ('success', 'failure'))), CHECK ((corrects IS NOT NULL) = (kind = 'correction')), CHECK ((label <> '') = (kind = 'review')));
INSERT INTO "events" VALUES(1,'00000000000000000000000000000000',1,'vGlOpXjXMDSgPNP-zFW9Lg','success',7,'',1.0,4.5,NULL,0,'browser',1000000.0,'verdict','','','',1,'fd987c511f830ea5a00db004dff9e13c02abd79269ce42469f719ed9a827446c');
INSERT INTO "events" VALUES(2,'00000000000000000000000000000001',1,'BQTQDeu7qtF0PalVkDDnNA','cannot_judge',NULL,'the map is dark',1.0,4.5,NULL,0,'browser',1000000.0,'verdict','','','bee6eb2f3630d060d6e4dda79b39ef3a3489d0caded10b4d4e051b6a3b2ce9f4',2,'cd72687406418c6e031b143a1f3351b3bea349f7440d67f72e3ff2aa4c97b7a6');
INSERT INTO "events" VALUES(3,'00000000000000000000000000000002',1,'vGlOpXjXMDSgPNP-zFW9Lg','success',8,'',1.0,4.5,'00000000000000000000000000000000',0,'browser',1000005.0,'correction','','','',3,'28dd685624e2271c1fff6462b18c03d3045efe6a29f69320fa7622e06eb7738f');
INSERT INTO "events" VALUES(4,'00000000000000000000000000000003',1,'1et-tWuglj_AP3OxRPrQrA','failure',5,'',1.0,4.5,NULL,0,'browser',1000005.0,'verdict','','','',4,'36c9baaa675615c0e9abfc511cc8dbef4c579f6cefeaa29974ab9578e6c0258a');
INSERT INTO "events" VALUES(5,'00000000000000000000000000000004',2,'BQTQDeu7qtF0PalVkDDnNA','not_done',NULL,'',1.0,4.5,NULL,0,'browser',1000005.0,'verdict','','','',1,'0e7769663f4079a40d2753fb2500e28afacda45750c92055c841e804ea74a89b');
CREATE TABLE exposures (
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            suite TEXT NOT NULL,
            agent TEXT NOT NULL,
            clips BIGINT NOT NULL,
            PRIMARY KEY (annotator, suite, agent));
INSERT INTO "exposures" VALUES(1,'starter@1','random',2);
INSERT INTO "exposures" VALUES(2,'starter@1','random',1);
CREATE TABLE invitations (
            token_hash TEXT PRIMARY KEY,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            made DOUBLE PRECISION NOT NULL,
            expires DOUBLE PRECISION NOT NULL,
            used DOUBLE PRECISION);
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
            added DOUBLE PRECISION NOT NULL, clip TEXT, rubric TEXT NOT NULL DEFAULT '', seal BIGINT);
INSERT INTO "items" VALUES('vGlOpXjXMDSgPNP-zFW9Lg','c0','s0','abababababababababababababababababababababababababababababababab','go-to-good','instruction',40,20,2,1446399900,1000000.0,'c0','',2684011694987446418);
INSERT INTO "items" VALUES('BQTQDeu7qtF0PalVkDDnNA','c1','s0','abababababababababababababababababababababababababababababababab','go-to-good','instruction',40,20,2,2133685983,1000000.0,'c1','',2630356438818270645);
INSERT INTO "items" VALUES('1et-tWuglj_AP3OxRPrQrA','c9','s9','abababababababababababababababababababababababababababababababab','go-to-good','instruction',40,20,0,1045045070,1000000.0,'c9','',2680367998250350296);
CREATE TABLE reference_episodes (
            item TEXT PRIMARY KEY REFERENCES items (id),
            truth TEXT NOT NULL,
            step INTEGER,
            note TEXT NOT NULL,
            added DOUBLE PRECISION NOT NULL, seal BIGINT);
INSERT INTO "reference_episodes" VALUES('1et-tWuglj_AP3OxRPrQrA','failure',4,'fell into Evil',1000000.0,3559620584403983670);
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
CREATE TABLE sessions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            secret_hash TEXT NOT NULL UNIQUE,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            begun DOUBLE PRECISION NOT NULL,
            seen DOUBLE PRECISION NOT NULL);
INSERT INTO "sessions" VALUES(1,'3d4ee2c2c5688ef85fd7e49d2e45fa8c1a2df490ae0b9e0a119fa9c9e33ba55f',1,1795385387.0,1795385387.0);
CREATE TABLE settled (
            item TEXT PRIMARY KEY REFERENCES items (id),
            settled_as TEXT NOT NULL,
            seal BIGINT);
CREATE TABLE slots (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            item TEXT NOT NULL REFERENCES items (id),
            slot INTEGER NOT NULL,
            annotator BIGINT REFERENCES annotators (id),
            lease_until DOUBLE PRECISION,
            judged INTEGER NOT NULL DEFAULT 0, turn INTEGER NOT NULL DEFAULT 1, draw BIGINT NOT NULL DEFAULT 0, category TEXT NOT NULL DEFAULT '',
            UNIQUE (item, slot),
            UNIQUE (item, annotator));
INSERT INTO "slots" VALUES(1,'BQTQDeu7qtF0PalVkDDnNA',1,1,NULL,1,1,2133685983,'go-to-good');
INSERT INTO "slots" VALUES(2,'BQTQDeu7qtF0PalVkDDnNA',2,2,NULL,1,1,2133685983,'go-to-good');
INSERT INTO "slots" VALUES(3,'vGlOpXjXMDSgPNP-zFW9Lg',1,1,NULL,1,1,1446399900,'go-to-good');
INSERT INTO "slots" VALUES(4,'vGlOpXjXMDSgPNP-zFW9Lg',2,NULL,NULL,0,1,1446399900,'go-to-good');
CREATE TABLE sts_schema (
	version INTEGER NOT NULL, 
	applied DOUBLE NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "sts_schema" VALUES(1,1000000.0);
INSERT INTO "sts_schema" VALUES(2,1000000.0);
INSERT INTO "sts_schema" VALUES(3,1000000.0);
INSERT INTO "sts_schema" VALUES(4,1000000.0);
INSERT INTO "sts_schema" VALUES(5,1000000.0);
INSERT INTO "sts_schema" VALUES(6,1000000.0);
INSERT INTO "sts_schema" VALUES(7,1000000.0);
CREATE TABLE sts_workspace (id TEXT PRIMARY KEY);
INSERT INTO "sts_workspace" VALUES('5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e');
CREATE TABLE suite_agents (
            suite TEXT NOT NULL,
            agent TEXT NOT NULL,
            wanted BIGINT NOT NULL,
            PRIMARY KEY (suite, agent));
INSERT INTO "suite_agents" VALUES('starter@1','random',4);
CREATE TABLE superseded (
            item TEXT PRIMARY KEY REFERENCES items (id),
            successor TEXT NOT NULL REFERENCES items (id),
            seal BIGINT);
CREATE TABLE totals (
            number INTEGER PRIMARY KEY,
            totals TEXT NOT NULL,
            digest TEXT NOT NULL);
INSERT INTO "totals" VALUES(1,'{"annotators": [2, 6409000014106548571], "copies": [3, 8209657410425346091], "items": [3, 7994736132056067359], "reference_episodes": [1, 3559620584403983670], "suite starter@1": [2, 2728238074255501580]}','fcb8e43f09a3906db62c34ef07ecdcda1c6ef837caecb8f6983ab41b1b0790a1');
CREATE TABLE training (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            item TEXT NOT NULL REFERENCES items (id),
            uuid TEXT NOT NULL,
            verdict TEXT NOT NULL,
            step INTEGER CHECK (step >= 1),
            agrees INTEGER NOT NULL,
            seconds DOUBLE PRECISION,
            received DOUBLE PRECISION NOT NULL,
            UNIQUE (annotator, item),
            UNIQUE (annotator, uuid));
CREATE INDEX slots_open ON slots (item, annotator, lease_until) WHERE judged = 0;
CREATE INDEX slots_of_annotator ON slots (annotator, judged);
CREATE INDEX decisions_of_candidate ON decisions (draft, candidate, number);
CREATE TRIGGER decisions_are_never_updated BEFORE UPDATE ON decisions
            BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decisions_are_never_deleted BEFORE DELETE ON decisions
            BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE UNIQUE INDEX items_of_clip ON items (clip);
CREATE INDEX copies_of_item ON copies (item);
CREATE INDEX events_of_item ON events (item, annotator, id);
CREATE INDEX events_of_annotator ON events (annotator, id);
CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events
            WHEN NOT (OLD.digest = '' OR (NEW.reason = '' AND NEW.text = '' AND NEW.id IS OLD.id AND NEW.uuid IS OLD.uuid AND NEW.annotator IS OLD.annotator AND NEW.item IS OLD.item AND NEW.verdict IS OLD.verdict AND NEW.step IS OLD.step AND NEW.watched IS OLD.watched AND NEW.seconds IS OLD.seconds AND NEW.corrects IS OLD.corrects AND NEW.extra IS OLD.extra AND NEW.source IS OLD.source AND NEW.received IS OLD.received AND NEW.kind IS OLD.kind AND NEW.label IS OLD.label AND NEW.words IS OLD.words AND NEW.number IS OLD.number AND NEW.digest IS OLD.digest))
            BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
            BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE INDEX slots_waiting ON slots (turn, draw, category) WHERE judged = 0;
CREATE INDEX invitations_of_annotator ON invitations (annotator);
CREATE INDEX sessions_of_annotator ON sessions (annotator);
CREATE UNIQUE INDEX annotators_of_pseudonym ON annotators (pseudonym);
CREATE INDEX superseded_by ON superseded (successor);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('slots',4);
INSERT INTO "sqlite_sequence" VALUES('annotators',2);
INSERT INTO "sqlite_sequence" VALUES('refused',1);
INSERT INTO "sqlite_sequence" VALUES('events',5);
INSERT INTO "sqlite_sequence" VALUES('sessions',1);
COMMIT;
