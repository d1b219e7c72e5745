package formats

import (
	"strings"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const webArenaName = "webarena-html"

func webArenaFormat() Format {
	return Format{
		Name:      webArenaName,
		Title:     "render_*.html of WebArena and VisualWebArena: a file is one run, its pages as accessibility trees",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseWebArena,
		New:       func(o Options) Decoder { return &webArena{nnetnav: nnetnav{acts: acts{opts: o}}} },
		Text:      true,
		Doc: Doc{
			Fields: "HTML as the render helper writes it: the task's configuration (intent is the task, task_id the task_id),\n" +
				"then for each step the page (state_obv), the action before it (prev_action) and the model's reply\n" +
				"(raw_parsed_prediction, parsed_action). Texts are not escaped there, and are taken as they stand.",
			Pairing: "As in nnetnav: what ran between two pages is the later one's prev_action, without the description of its\n" +
				"element. Where that says that no element matched, the proposed action is what was tried; where it says\n" +
				"that the reply could not be read nothing ran. The last action is unanswered.",
			State:    "the page before the action",
			Domain:   "web",
			ID:       "none: a run goes by its content",
			Stripped: "the model's reasoning, unless thoughts are to be kept; screenshots, action objects, URLs, the rest of the configuration",
			Sample: "<html>\n<body>\n<pre>task_id: 7\nintent: Open the cart.\n</pre>\n" +
				"<h2>New Page</h2>\n<h3 class='url'><a href=http://a>URL: http://a</a></h3>\n<div class='state_obv'><pre>[12] link 'Cart'</pre><div>\n" +
				"<div class='prev_action' style='background-color:pink'>None</div>\n<div class='predict_action'><div class='raw_parsed_prediction'><pre>I click. ```click [12]```</pre></div>" +
				"<div class='parsed_action'><pre>click [12] where [12] is [12] link 'Cart'</pre></div></div>\n" +
				"<h2>New Page</h2>\n<h3 class='url'><a href=http://a/c>URL: http://a/c</a></h3>\n<div class='state_obv'><pre>[3] heading 'Your cart'</pre><div>\n" +
				"<div class='prev_action' style='background-color:pink'>click [12] where [12] is link 'Cart'</div>\n" +
				"<div class='predict_action'><div class='raw_parsed_prediction'><pre>Done. ```stop []```</pre></div><div class='parsed_action'><pre>stop []</pre></div></div>\n</body>\n</html>\n",
		},
	}
}

func recogniseWebArena(v jsonscan.Value) (why string, marks int) {
	raw, _ := v.Plain() // undecoded: what is looked for has no escapes
	text := string(raw)
	for _, mark := range [...]string{"class='predict_action'", "class='prev_action'", "<h2>New Page</h2>"} {
		if strings.Contains(text, mark) {
			marks++
		}
	}
	switch {
	case v.Kind() != jsonscan.String:
		return "a record is " + article(v.Kind()) + ", want a text", 0
	case !strings.Contains(text, pageMark):
		return "no page in a div of class state_obv", marks
	}
	return "", marks + 3
}
