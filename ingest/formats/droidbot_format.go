package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const droidBotName = "droidbot"

func droidBotFormat() Format {
	return Format{
		Name:      droidBotName,
		Title:     "DroidBot's folders (and Kea's): a file an event, a file a screen, utg.js as their index",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseDroidBot,
		New: func(o Options) Decoder {
			return &droidBot{acts: acts{opts: o}, byHash: map[string]int{}, seen: map[string]int{}}
		},
		Join: &Join{Part: droidBotPart, Lacks: droidBotLacks},
		Doc: Doc{
			Fields: "events: tag, event (event_type and its arguments; its view reduced to text, content_description,\n" +
				"resource_id, class and bounds), start_state, stop_state; screens: tag, state_str, views; utg.js: an index,\n" +
				"of which nothing is read. A screen's visible views are lines, indented by depth with tabs: class, \"text\",\n" +
				"[content description], #id, {flags}, (x1,y1,x2,y2). Files find one another by state_str alone, whatever\n" +
				"they are called and wherever they lie; one file may hold them all.",
			Pairing: "the screens whose state_str is start_state and stop_state; events by tag, numbers as numbers. Where an\n" +
				"event does not start at the screen that the one before stopped at, or that screen has no file, a new\n" +
				"trajectory begins",
			State:    "the screen start_state",
			Domain:   "android",
			ID:       "the hash of the run's events, and the tag of the first screen; the hash is the task_id",
			Stripped: "event_str, log_lines, null arguments, the rest of a view; unseen views; activities and services",
			Sample: `[{"tag":"0900","event":{"event_type":"key","log_lines":null,"name":"BACK"},"start_state":"5e1","stop_state":"7d3","event_str":"KeyEvent(name=BACK)"},` +
				`{"tag":"0859","state_str":"5e1","views":[{"temp_id":0,"parent":-1,"class":"android.widget.TextView","text":"Settings","visible":true,"bounds":[[0,0],[80,20]]}]},` +
				`{"tag":"0901","state_str":"7d3","views":[{"temp_id":0,"parent":-1,"class":"android.widget.TextView","text":"Home","visible":true,"bounds":[[0,0],[60,20]]}]}]`,
		},
	}
}

// The kinds of part of a run of DroidBot.
const (
	droidEvents = 1 << iota
	droidScreens
	droidIndex
)

// droidKind tells what a value is, or what it lacks to be anything.
func droidKind(v jsonscan.Value) (kind uint16, why string, marks int) {
	switch {
	case v.Kind() != jsonscan.Object:
		return 0, "a part is " + article(v.Kind()) + ", want an object", 0
	case v.Get("nodes").Kind() == jsonscan.Array && v.Get("edges").Kind() == jsonscan.Array &&
		(v.Get("nodes").At(0).Get("state_str").Kind() == jsonscan.String || v.Get("num_transitions").Present()):
		return droidIndex, "", 3
	case v.Get("state_str").Kind() == jsonscan.String:
		if v.Get("views").Kind() != jsonscan.Array {
			return 0, "state_str without views", 1
		}
		return droidScreens, "", 3
	}
	for _, name := range [...]string{"start_state", "stop_state"} {
		if v.Get(name).Kind() == jsonscan.String {
			marks++
		}
	}
	switch {
	case v.Get("event").Kind() != jsonscan.Object:
		return 0, "neither an event, a state_str nor nodes and edges", marks
	case marks == 0:
		return 0, "an event without start_state and stop_state", 1
	}
	return droidEvents, "", marks + 1
}

func recogniseDroidBot(v jsonscan.Value) (why string, marks int) {
	return recognisePart(v, droidKind)
}

func droidBotPart(v jsonscan.Value, p *Parts) {
	kind, _, _ := droidKind(v)
	p.Kinds |= kind
	named := func(to []Key, v jsonscan.Value) []Key { // an empty name is nobody's
		if v.Kind() != jsonscan.String || v.Is("") {
			return to
		}
		return append(to, p.key(v))
	}
	switch kind {
	case droidEvents:
		p.Takes = named(named(p.Takes, v.Get("start_state")), v.Get("stop_state"))
	case droidScreens:
		p.Gives = named(p.Gives, v.Get("state_str"))
	case droidIndex:
		for node := range v.Get("nodes").Elems() {
			p.Takes = named(p.Takes, node.Get("state_str"))
		}
	}
}

func droidBotLacks(kinds uint16) string {
	switch {
	case kinds&droidEvents != 0 && kinds&droidScreens != 0:
		return ""
	case kinds&droidEvents != 0:
		return "an event of DroidBot, and no file holds its start_state or its stop_state (as state_str)"
	case kinds&droidScreens != 0:
		return "a screen of DroidBot, and no file holds an event that starts or stops at its state_str"
	}
	return "an index of DroidBot (utg.js), and no file holds its screens and events"
}
