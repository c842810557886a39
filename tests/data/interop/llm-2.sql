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
INSERT INTO "fragments" VALUES(1,'67a77ec4f8605f02d930b7861b459d1097a4a24ecb4a4670ba437e7cf2af7466','A long novel.','2026-11-22 14:49:32',NULL);
CREATE TABLE "messages" (
   "hash" TEXT PRIMARY KEY,
   "parent_hash" TEXT REFERENCES "messages"("hash"),
   "role" TEXT,
   "provider_metadata" TEXT
);
INSERT INTO "messages" VALUES('b2:32cb3af67079be8aeafd8b05763f32c1',NULL,'system',NULL);
INSERT INTO "messages" VALUES('b2:19b07f63a86911e92841bccbef0eb9a3','b2:32cb3af67079be8aeafd8b05763f32c1','user',NULL);
INSERT INTO "messages" VALUES('b2:fa117d064d6fbf0acd7299a9f430915e','b2:19b07f63a86911e92841bccbef0eb9a3','assistant',NULL);
INSERT INTO "messages" VALUES('b2:1bf8b1f213357ef2eaad82dae6dda49a','b2:fa117d064d6fbf0acd7299a9f430915e','user',NULL);
INSERT INTO "messages" VALUES('b2:501245eb550c7a503b1819aebf9a5557','b2:1bf8b1f213357ef2eaad82dae6dda49a','assistant',NULL);
INSERT INTO "messages" VALUES('b2:f8bfe1465512a7905deda9aee51b110c','b2:fa117d064d6fbf0acd7299a9f430915e','user',NULL);
INSERT INTO "messages" VALUES('b2:8530a120a9fe6dfd6419582ece161836','b2:f8bfe1465512a7905deda9aee51b110c','assistant',NULL);
CREATE TABLE "part_attachments" (
   "part_id" INTEGER REFERENCES "parts"("id"),
   "attachment_id" TEXT REFERENCES "attachments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("part_id", "attachment_id", "order")
);
INSERT INTO "part_attachments" VALUES(5,'4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6',0);
CREATE TABLE "part_fragments" (
   "part_id" INTEGER REFERENCES "parts"("id"),
   "fragment_id" INTEGER REFERENCES "fragments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("part_id", "fragment_id", "order")
);
INSERT INTO "part_fragments" VALUES(7,1,0);
CREATE TABLE "parts" (
   "id" INTEGER PRIMARY KEY,
   "message_hash" TEXT REFERENCES "messages"("hash"),
   "position" INTEGER,
   "type" TEXT,
   "tool_name" TEXT,
   "text" TEXT,
   "payload" TEXT
);
INSERT INTO "parts" VALUES(1,'b2:32cb3af67079be8aeafd8b05763f32c1',0,'text',NULL,'be brief',NULL);
INSERT INTO "parts" VALUES(2,'b2:19b07f63a86911e92841bccbef0eb9a3',0,'text',NULL,'what is rust',NULL);
INSERT INTO "parts" VALUES(3,'b2:fa117d064d6fbf0acd7299a9f430915e',0,'text',NULL,'A language.',NULL);
INSERT INTO "parts" VALUES(4,'b2:1bf8b1f213357ef2eaad82dae6dda49a',0,'text',NULL,'and go',NULL);
INSERT INTO "parts" VALUES(5,'b2:1bf8b1f213357ef2eaad82dae6dda49a',1,'attachment',NULL,NULL,'{"attachment": {"id": "4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6"}}');
INSERT INTO "parts" VALUES(6,'b2:501245eb550c7a503b1819aebf9a5557',0,'text',NULL,'Another.',NULL);
INSERT INTO "parts" VALUES(7,'b2:f8bfe1465512a7905deda9aee51b110c',0,'text',NULL,NULL,'{"text_ref": [{"fragment": 1}, {"literal": "\nwhy"}]}');
INSERT INTO "parts" VALUES(8,'b2:8530a120a9fe6dfd6419582ece161836',0,'text',NULL,'Because.',NULL);
CREATE TABLE "prompt_attachments" (
   "response_id" TEXT REFERENCES "responses"("id"),
   "attachment_id" TEXT REFERENCES "attachments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("response_id", "attachment_id")
);
CREATE TABLE "prompt_fragments" (
   "response_id" TEXT REFERENCES "responses"("id"),
   "fragment_id" INTEGER REFERENCES "fragments"("id"),
   "order" INTEGER,
   PRIMARY KEY ("response_id", "fragment_id", "order")
);
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
, "resolved_model" TEXT, "reasoning" TEXT);
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
CREATE TABLE "threads" (
   "id" TEXT PRIMARY KEY,
   "name" TEXT,
   "tip_message_hash" TEXT REFERENCES "messages"("hash"),
   "forked_from" TEXT REFERENCES "threads"("id"),
   "datetime_utc" TEXT
);
INSERT INTO "threads" VALUES('01m81vqm7q6maqrp3z5gnapzzc','what is rust','b2:501245eb550c7a503b1819aebf9a5557',NULL,'2026-11-22 14:49:32.562552+00:00');
INSERT INTO "threads" VALUES('01m81vqpntd8vx892ewshh0e4k','what is rust','b2:8530a120a9fe6dfd6419582ece161836',NULL,'2026-11-22 14:49:32.603150+00:00');
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
CREATE TABLE "tool_instantiations" (
   "turn_id" TEXT REFERENCES "turns"("id"),
   "tool_call_id" TEXT,
   "instance_id" INTEGER REFERENCES "tool_instances"("id"),
   PRIMARY KEY ("turn_id", "tool_call_id")
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
CREATE TABLE "turn_fragments" (
   "turn_id" TEXT REFERENCES "turns"("id"),
   "fragment_id" INTEGER REFERENCES "fragments"("id"),
   "order" INTEGER,
   "kind" TEXT,
   PRIMARY KEY ("turn_id", "fragment_id", "kind", "order")
);
INSERT INTO "turn_fragments" VALUES('01m81vqppajvddyx8mpjg8w2cw',1,0,'prompt');
CREATE TABLE "turn_search" (
   "id" INTEGER PRIMARY KEY,
   "turn_id" TEXT REFERENCES "turns"("id"),
   "prompt" TEXT,
   "response" TEXT
);
INSERT INTO "turn_search" VALUES(1,'01m81vqm8bgv8mmrdp8ybdpfpk','what is rust','A language.');
INSERT INTO "turn_search" VALUES(2,'01m81vqpn3srz1exenxd25gmmj','and go','Another.');
INSERT INTO "turn_search" VALUES(3,'01m81vqpntd8vx892ewshh0e4m','what is rust','A language.');
INSERT INTO "turn_search" VALUES(4,'01m81vqppajvddyx8mpjg8w2cw','
why','Because.');
CREATE TABLE "turn_tools" (
   "turn_id" TEXT REFERENCES "turns"("id"),
   "tool_id" INTEGER REFERENCES "tools"("id"),
   "instance_id" INTEGER REFERENCES "tool_instances"("id"),
   PRIMARY KEY ("turn_id", "tool_id")
);
CREATE TABLE "turns" (
   "id" TEXT PRIMARY KEY,
   "thread_id" TEXT REFERENCES "threads"("id"),
   "parent_message_hash" TEXT REFERENCES "messages"("hash"),
   "tip_message_hash" TEXT REFERENCES "messages"("hash"),
   "model" TEXT,
   "resolved_model" TEXT,
   "options_json" TEXT,
   "schema_id" TEXT REFERENCES "schemas"("id"),
   "input_tokens" INTEGER,
   "output_tokens" INTEGER,
   "token_details" TEXT,
   "duration_ms" INTEGER,
   "datetime_utc" TEXT
, "response_json" TEXT);
INSERT INTO "turns" VALUES('01m81vqm8bgv8mmrdp8ybdpfpk','01m81vqm7q6maqrp3z5gnapzzc','b2:19b07f63a86911e92841bccbef0eb9a3','b2:fa117d064d6fbf0acd7299a9f430915e','mock',NULL,NULL,NULL,3,2,NULL,0,'2026-11-22T14:49:30.123881+00:00',NULL);
INSERT INTO "turns" VALUES('01m81vqpn3srz1exenxd25gmmj','01m81vqm7q6maqrp3z5gnapzzc','b2:1bf8b1f213357ef2eaad82dae6dda49a','b2:501245eb550c7a503b1819aebf9a5557','mock',NULL,NULL,NULL,3,2,NULL,0,'2026-11-22T14:49:32.579381+00:00',NULL);
INSERT INTO "turns" VALUES('01m81vqpntd8vx892ewshh0e4m','01m81vqpntd8vx892ewshh0e4k','b2:19b07f63a86911e92841bccbef0eb9a3','b2:fa117d064d6fbf0acd7299a9f430915e','mock',NULL,NULL,NULL,3,2,NULL,0,'2026-11-22T14:49:32.602792+00:00',NULL);
INSERT INTO "turns" VALUES('01m81vqppajvddyx8mpjg8w2cw','01m81vqpntd8vx892ewshh0e4k','b2:f8bfe1465512a7905deda9aee51b110c','b2:8530a120a9fe6dfd6419582ece161836','mock',NULL,NULL,NULL,3,2,NULL,0,'2026-11-22T14:49:32.618476+00:00',NULL);
COMMIT;
