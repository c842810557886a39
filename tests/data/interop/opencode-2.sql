create table session(id text primary key,parent_id text,title text,time_created integer);
create table message(id text primary key,session_id text,time_created integer,data text not null);
create table part(id text primary key,message_id text,session_id text,time_created integer,data text not null);
create table session_v2(id text primary key,parent_id text,title text,time_created integer);
create table session_message(id text primary key,session_id text,type text,seq integer,time_created integer,data text not null);
insert into session values('ses_0',null,'Old',1785578300000),('ses_1',null,'Demo',1785578400000);
insert into message values('msg_0','ses_0',1785578300000,'{"role":"user"}'),('msg_1','ses_1',1785578400000,'{"role":"user"}');
insert into part values('prt_0','msg_0','ses_0',1785578300000,'{"type":"text","text":"old"}'),('prt_1','msg_1','ses_1',1785578400000,'{"type":"text","text":"stale"}');
insert into session_v2 values('ses_1',null,'Demo',1785578400000);
insert into session_message values
('msg_1','ses_1','user',1,1785578400000,'{"text":"list"}'),
('msg_2','ses_1','model-switched',2,1785578400001,'{}'),
('msg_3','ses_1','assistant',3,1785578401000,'{"agent":"build","model":{"id":"claude","providerID":"anthropic"},"content":[{"type":"reasoning","text":"hm"},{"type":"tool","id":"t1","name":"bash","state":{"status":"completed","input":{"command":"ls"},"content":[{"type":"text","text":"a"}]}},{"type":"text","text":"one file"}]}');
