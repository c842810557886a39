BEGIN TRANSACTION;
CREATE TABLE "attachments" (
   "id" TEXT PRIMARY KEY,
   "type" TEXT,
   "path" TEXT,
   "url" TEXT,
   "content" BLOB
);
INSERT INTO "attachments" VALUES('4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6','image/png',NULL,NULL,X'89504E470D0A1A0A');
CREATE TABLE "conversations" (
   "id" TEXT PRIMARY KEY,
   "name" TEXT,
   "model" TEXT
);
INSERT INTO "conversations" VALUES('01m81vxx7qnfd7amywwhyrz2ap','what is rust','mock');
INSERT INTO "conversations" VALUES('01m81vxxhpjvasxhj9xxsa0bk8','what is rust','mock');
CREATE TABLE "fragment_aliases" (
   "alias" TEXT PRIMARY KEY,
   "fragment_id" INTEGER REFERENCES "fragments"("id")
);
CREATE TABLE "fragments" (
   "id" INTEGER PRIMARY KEY,
   "hash" TEXT,
   "content" TEXT,
   "datetime_utc" TEXT,
   "source" TEXT
);
INSERT INTO "fragments" VALUES(1,'67a77ec4f8605f02d930b7861b459d1097a4a24ecb4a4670ba437e7cf2af7466','A long novel.','2026-11-22 14:52:56',NULL);
CREATE TABLE "prompt_attachments" (
   "response_id" TEXT REFERENCES "responses"("id"),
   "attachment_id" TEXT REFERENCES "attachments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("response_id", "attachment_id")
);
INSERT INTO "prompt_attachments" VALUES('01m81vxx9kjcnd1jxracg7qf3q','4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6',0);
CREATE TABLE "prompt_fragments" (
   "response_id" TEXT REFERENCES "responses"("id"),
   "fragment_id" INTEGER REFERENCES "fragments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("response_id", "fragment_id", "order")
);
INSERT INTO "prompt_fragments" VALUES('01m81vxxpn5zknhqk9x7wakrms',1,0);
CREATE TABLE "responses" (
   "id" TEXT PRIMARY KEY,
   "model" TEXT,
   "prompt" TEXT,
   "system" TEXT,
   "prompt_json" TEXT,
   "options_json" TEXT,
   "response" TEXT,
   "response_json" TEXT,
   "conversation_id" TEXT REFERENCES "conversations"("id"),
   "duration_ms" INTEGER,
   "datetime_utc" TEXT,
   "input_tokens" INTEGER,
   "output_tokens" INTEGER,
   "token_details" TEXT,
   "schema_id" TEXT REFERENCES "schemas"("id")
, "resolved_model" TEXT);
INSERT INTO "responses" VALUES('01m81vxx7ra657ec5d7zgw34ts','mock','what is rust','be brief',NULL,'{}','A language.',NULL,'01m81vxx7qnfd7amywwhyrz2ap',0,'2026-11-22T14:52:55.928110+00:00',3,2,NULL,NULL,NULL);
INSERT INTO "responses" VALUES('01m81vxx9kjcnd1jxracg7qf3q','mock','and go',NULL,NULL,'{}','Another.',NULL,'01m81vxx7qnfd7amywwhyrz2ap',0,'2026-11-22T14:52:55.987667+00:00',3,2,NULL,NULL,NULL);
INSERT INTO "responses" VALUES('01m81vxxhpjvasxhj9xxsa0bk9','mock','what is rust','be brief',NULL,'{}','A language.',NULL,'01m81vxxhpjvasxhj9xxsa0bk8',0,'2026-11-22T14:52:56.246447+00:00',3,2,NULL,NULL,NULL);
INSERT INTO "responses" VALUES('01m81vxxpn5zknhqk9x7wakrms','mock','why',NULL,NULL,'{}','Because.',NULL,'01m81vxxhpjvasxhj9xxsa0bk8',0,'2026-11-22T14:52:56.405705+00:00',3,2,NULL,NULL,NULL);
CREATE TABLE "schemas" (
   "id" TEXT PRIMARY KEY,
   "content" TEXT
);
CREATE TABLE "system_fragments" (
   "response_id" TEXT REFERENCES "responses"("id"),
   "fragment_id" INTEGER REFERENCES "fragments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("response_id", "fragment_id", "order")
);
CREATE TABLE "tool_calls" (
   "id" INTEGER PRIMARY KEY,
   "response_id" TEXT REFERENCES "responses"("id"),
   "tool_id" INTEGER REFERENCES "tools"("id"),
   "name" TEXT,
   "arguments" TEXT,
   "tool_call_id" TEXT
);
CREATE TABLE "tool_instances" (
   "id" INTEGER PRIMARY KEY,
   "plugin" TEXT,
   "name" TEXT,
   "arguments" TEXT
);
CREATE TABLE "tool_responses" (
   "tool_id" INTEGER REFERENCES "tools"("id"),
   "response_id" TEXT REFERENCES "responses"("id"),
   PRIMARY KEY ("tool_id", "response_id")
);
CREATE TABLE "tool_results" (
   "id" INTEGER PRIMARY KEY,
   "response_id" TEXT REFERENCES "responses"("id"),
   "tool_id" INTEGER REFERENCES "tools"("id"),
   "name" TEXT,
   "output" TEXT,
   "tool_call_id" TEXT,
   "instance_id" INTEGER REFERENCES "tool_instances"("id")
, "exception" TEXT);
CREATE TABLE "tool_results_attachments" (
   "tool_result_id" INTEGER REFERENCES "tool_results"("id"),
   "attachment_id" TEXT REFERENCES "attachments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("tool_result_id", "attachment_id")
);
CREATE TABLE "tools" (
   "id" INTEGER PRIMARY KEY,
   "hash" TEXT,
   "name" TEXT,
   "description" TEXT,
   "input_schema" TEXT
, "plugin" TEXT);
COMMIT;
