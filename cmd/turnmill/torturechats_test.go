package main

import "strings"

func jsonTortures() []torture {
	a, c := terminal("a", `"one"`), terminal("c", `"three"`)
	deep := func(id string, n int) string { // n levels, the record's own included
		return strings.Replace(terminal(id, `"one"`), "{", `{"extra":`+nested(n-1)+",", 1)
	}
	return []torture{
		{
			name: "not-finite", why: "NaN and Infinity keep their spelling: two in the arguments, one beside the messages",
			data: jsonLines(strings.Replace(chat("a", user(`"go"`), call("c", `{"n":NaN,"m":-Infinity}`), answer("c", `"done"`)), "{", `{"reward":NaN,`, 1)),
			want: noted(1, map[string]int64{"non_finite_numbers": 3}), lines: 1, holds: []string{`{\"n\":NaN,\"m\":-Infinity}`},
		},
		{
			name: "big-numbers", why: "numbers that no float64 holds stay as they are spelt, as an object and inside a string",
			data: jsonLines(chat("a", user(`"go"`), call("c", `{"id":9007199254740993,"x":1e400,"y":1.0}`), answer("c", `"1"`),
				call("d", `"{\"id\":9007199254740993, \"z\":0.30000000000000000001}"`), answer("d", `"2"`))),
			want:  figures{records: counted(1), trajectories: counted(1), turns: counted(2), rows: 1},
			lines: 1, holds: []string{`{\"id\":9007199254740993,\"x\":1e400,\"y\":1.0}`, `{\"id\":9007199254740993, \"z\":0.30000000000000000001}`},
		},
		{
			name: "duplicate-keys", why: "the last of two ids counts, and the last of two roles; two keys were repeated",
			data: jsonLines(strings.Replace(chat("last", `{"role":"assistant","role":"user","content":"go"}`, call("c", `"{}"`), answer("c", `"x"`)), "{", `{"id":"first",`, 1)),
			want: noted(1, map[string]int64{"duplicate_keys": 2}), lines: 1, holds: []string{`"id":"last"`, `"task_description":"go"`},
		},
		{
			name: "other-case", why: "Role is not role: beside it it is passed over, alone it leaves a message without a role",
			data: jsonLines(chat("a", `{"Role":"tool","role":"user","Content":"no","content":"go"}`, call("c", `"{}"`), answer("c", `"x"`)),
				chat("b", user(`"go"`), `{"Role":"assistant","content":"x"}`), c),
			code: exitThreshold, want: lost(2, "bad_message", 1), lines: 2, holds: []string{`"task_description":"go"`},
		},
		{
			name: "deep", why: "10,000 levels are read, one more is too deep and costs its record",
			data: jsonLines(a, deep("b", 9_999), deep("c", 10_000), deep("d", 10_001)), code: exitThreshold, want: lost(3, "too_deep", 1), lines: 3,
		},
		{
			name: "spliced", why: "report 07: a cut record (lost) with another on its line, two on a line, NULs before one, and two good lines",
			data: report("07-spliced-lines.jsonl"), code: exitThreshold, lines: 6,
			want: figures{records: rejected(6, "bad_json", 1), trajectories: counted(6), turns: counted(6), rows: 6,
				notes: map[string]int64{"spliced_lines": 2, "nul_padding": 1, "no_tools_declared": 6}},
		},
	}
}

// empty is what conversations without a turn give: n of them read, k without a message.
func empty(n, k int64) figures {
	f := figures{records: dropped(0, "no_target", n), trajectories: dropped(0, "no_target", n)}
	f.records.rejected = map[string]int64{"empty_messages": k}
	return f
}

func chatTortures() []torture {
	system := `{"role":"system","content":"Be a shell."}`
	degenerate := empty(4, 1)
	degenerate.notes = map[string]int64{"unknown_domain": 4, "emptied_messages": 3}
	bare := empty(4, 1)
	bare.notes = map[string]int64{"unknown_domain": 4, "emptied_messages": 3, "no_tools_declared": 4}
	return append([]torture{
		{
			name: "empty-conversations", why: "no message at all is rejected; a system prompt, a user, and silence twice hold no turn; three messages are empty",
			data: jsonLines(chat("a"), chat("b", system), chat("c", user(`"hi"`)), chat("d", says(`""`)), chat("e", user(`""`), says(`""`))),
			code: exitThreshold, want: degenerate, lines: 4,
		},
		{
			name: "empty-lists", why: "the same where a record is the list of messages itself",
			data: jsonLines("[]", "["+system+"]", "["+user(`"hi"`)+"]", "["+says(`""`)+"]", "["+user(`""`)+","+says(`""`)+"]"),
			code: exitThreshold, want: bare, lines: 4,
		},
		{
			name: "pure-chat", why: "a person answers: no environment; the two turns go with the trajectory",
			data: jsonLines(chat("a", user(`"hi"`), says(`"hello"`), user(`"more"`), says(`"well"`), user(`"bye"`))),
			want: figures{records: dropped(0, "no_environment", 1), trajectories: dropped(0, "no_environment", 1), turns: dropped(0, "no_environment", 2),
				notes: map[string]int64{"unknown_domain": 1}}, lines: 1,
		},
	}, append(callTortures(), contentTortures()...)...)
}

func callTortures() []torture {
	yes := func(n int64, notes map[string]int64) figures {
		return figures{records: counted(1), trajectories: counted(1), turns: counted(n), rows: 1, notes: notes}
	}
	one, two := oneCall("1", `"{\"n\":1}"`), oneCall("2", `"{\"n\":2}"`)
	return []torture{
		{
			name: "unanswered-call", why: "a call that nothing answers is no turn",
			data: jsonLines(chat("a", user(`"go"`), callAll(one), answer("1", `"r1"`), callAll(two))),
			want: yes(1, map[string]int64{"unanswered_actions": 1}), lines: 1,
		},
		{
			name: "orphan-results", why: "a result before any call, and one with a call's id too many: two orphans",
			data: jsonLines(chat("a", user(`"go"`), answer("0", `"r0"`), callAll(one), answer("1", `"r1"`), answer("9", `"r9"`))),
			want: yes(1, map[string]int64{"orphan_observations": 2}), lines: 1,
		},
		{
			name: "parallel-calls", why: "two calls in one message and their results are one turn",
			data: jsonLines(chat("a", user(`"go"`), callAll(one, two), answer("1", `"r1"`), answer("2", `"r2"`))),
			want: yes(1, nil), lines: 1, holds: []string{`"observation":"r1\nr2"`, `"tool":"sh,sh"`},
		},
		{
			name: "results-out-of-order", why: "results go by id, and stand in the order of the calls",
			data: jsonLines(chat("a", user(`"go"`), callAll(one, two), answer("2", `"r2"`), answer("1", `"r1"`))),
			want: yes(1, nil), lines: 1, holds: []string{`"observation":"r1\nr2"`},
		},
		{
			name: "repeated-ids", why: "one id in two turns and twice in one: by order; it came before three times",
			data: jsonLines(chat("a", user(`"go"`), callAll(one), answer("1", `"r1"`), callAll(one), answer("1", `"r2"`),
				callAll(one, oneCall("1", `"{\"n\":3}"`)), answer("1", `"r3"`), answer("1", `"r4"`))),
			want: yes(3, map[string]int64{"repeated_call_ids": 3}), lines: 1, holds: []string{`"observation":"r3\nr4"`},
		},
		{
			name: "arguments", why: "a string of JSON, an object, nothing, and what is no JSON (twice) stay as they are",
			data: jsonLines(chat("a", user(`"go"`), call("1", `"{\"a\": 3}"`), answer("1", `"r"`), call("2", `{"b":"<b>&"}`), answer("2", `"r"`),
				call("3", `""`), answer("3", `"r"`), call("4", `"{bad"`), answer("4", `"r"`), call("5", `null`), answer("5", `"r"`))),
			want: yes(5, map[string]int64{"arguments_not_json": 2}), lines: 1,
			holds: []string{`\"arguments\":{\"a\": 3}}`, `\"arguments\":{\"b\":\"<b>&\"}}`, `\"arguments\":\"\"}`, `\"arguments\":\"{bad\"}`},
		},
		{
			name: "call-without-name", why: "a name that is no text costs the record",
			data: jsonLines(terminal("a", `"one"`), chat("b", user(`"go"`), `{"role":"assistant","tool_calls":[{"function":{"name":7}}]}`)),
			code: exitThreshold, want: lost(1, "bad_field", 1), lines: 1,
		},
	}
}

func contentTortures() []torture {
	return []torture{
		{
			name: "content-forms", why: "null, missing and empty content of calls and results; texts of parts are joined, the image is counted",
			data: jsonLines(chat("a", user(`[{"type":"text","text":"go"},{"type":"text","text":"on"}]`),
				`{"role":"assistant","tool_calls":[`+oneCall("1", `"{}"`)+`]}`, `{"role":"tool","tool_call_id":"1"}`,
				call("2", `"{}"`), answer("2", `null`),
				call("3", `"{}"`), answer("3", `[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:"}},{"type":"text","text":"y"}]`))),
			want:  figures{records: counted(1), trajectories: counted(1), turns: counted(3), rows: 1, notes: map[string]int64{"non_text_parts": 1}},
			lines: 1, holds: []string{`"task_description":"go\non"`, `"observation":"x\ny"`},
		},
		{
			name: "content-of-numbers", why: "content that is neither text nor parts costs its record",
			data: jsonLines(terminal("a", `"one"`), terminal("b", `7`)), code: exitThreshold, want: lost(1, "bad_message", 1), lines: 1,
		},
		{
			name: "reasoning", why: "a think block, a text beside a call and a reasoning field are no action: three thoughts",
			data: jsonLines(chat("a", user(`"go"`), `{"role":"assistant","content":"<think>hm</think>I will","reasoning_content":"so","tool_calls":[`+oneCall("1", `"{}"`)+`]}`, answer("1", `"x"`))),
			want: noted(1, map[string]int64{"thoughts_stripped": 3}), lines: 1,
		},
	}
}
