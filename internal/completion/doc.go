// Package completion reads what an endpoint for chat completions answers: one JSON body, to the fields of a
// turnmill.Reply. Bodies come from the wire, from the output files of batch APIs, and from recorded runs.
//
//	{"model":"m","choices":[{"index":0,"finish_reason":"stop",
//	    "message":{"content":"<think>why</think>\n\nwhat","reasoning_content":null,"refusal":null}}],
//	 "usage":{"prompt_tokens":9,"completion_tokens":7,"completion_tokens_details":{"reasoning_tokens":3}}}
//
//	message.reasoning_content, message.reasoning     Reasoning, where one is not empty
//	else the think block that opens the content      Reasoning; see Split
//	message.content: text, parts, null               Text
//	finish_reason stop, eos, ...                     complete
//	              length, max_tokens, ...            truncated
//	              content_filter, or a refusal       refused
//	              none, or one that nobody knows     failed: whether the model ended its answer is not known
//	no content and no refusal                        failed, unless the token limit came first
//
// A body that holds no choice is an *Error with the server's own message, or says what it is instead. Nothing is
// guessed: a text without its end is no answer.
package completion
