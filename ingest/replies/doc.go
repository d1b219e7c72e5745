// Package replies reads recorded answers: of models to queries, and of judges about such answers. Answers are
// joined by name, the id of what was asked and the number of the sample, never by their place in a file.
//
//	files --Build--> index: hash of the id -> file, offset, item     one pass, which also gives each file's sum
//	id    --Reader.Get--> the replies of that id, read back          by sample; each sample in one state
//
// A file holds one JSON value a line, or one array of them; .gz and .zst are read through. The shapes:
//
//	{"query":"t@3","rollout":0,"text":"…","reasoning":"…","finish_reason":"stop"}        turnmill's own
//	{"query":"t@3","rollouts":[{"text":"…","finish_reason":"stop"}, …]}                  several of a query
//	{"id":"t@3","choices":[{"index":0,"finish_reason":"stop","message":{…}}, …]}         chat completions
//	{"custom_id":"t@3#1","response":{"status_code":200,"body":{"choices":[…]}},…}        batch output (OpenAI, vLLM run_batch)
//	{"custom_id":"t@3#1","response":null,"error":{"code":"batch_expired",…}}             batch errors
//	{"request_id":"t@3","outputs":[{"index":0,"text":"…","finish_reason":"stop"}, …]}    vLLM, generated offline
//	{"task":"…/terminal","id":145,"turn_idx":3,"text":"…","finish_reason":"stop"}        to a row of AgentWorldBench
//	{"query":"t@3","rollout":0,"judge":"…raw text…"}                                     a judge's scores
//	{"query":"t@3","pair":[0,2],"judge":"…raw text…"}                                    a judge's choice; 0 was shown first
//
// The id is the first of query, query_id, custom_id, request_id and id that is a text. An id of the form
// TRAJECTORY@TURN#SAMPLE names the sample too, and wins over a number in the row. A row with turn_idx and neither
// query nor custom_id answers TASK/ID/TURN, or ID/TURN where it has no task. An answer whose end is not known
// is no answer: without finish_reason or state it is failed, for that reason.
//
// One sample may come more than once, in the files' order. The first answer wins; a failure, or a timeout, stands
// only where no answer does, and then the first of them. The others are counted.
package replies
