package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const openCUAName = "opencua"

func openCUAFormat() Format {
	return Format{
		Name:      openCUAName,
		Title:     "raw recordings of OpenCUA's AgentNet recorder: actions of a person, accessibility trees of the windows",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseOpenCUA,
		New:       func(o Options) Decoder { return &openCUA{acts: acts{opts: o}} },
		Join: &Join{Part: openCUAPart, Lacks: openCUALacks,
			Single: cuaActions | cuaShown | cuaDumps | cuaElements | cuaRaw | cuaMerged | cuaWindows | cuaPages | cuaAbout | cuaTask},
		Doc: Doc{
			Fields: "actions (reduced_events_complete, else reduced_events_vis): id, action, start_time, end_time, axtree and\n" +
				"what says what was done; dumps (a11y): time_stamp, axtree; task_name as task; metadata as meta. Nothing is\n" +
				"read of elements, events, the event buffer, top windows and pages, which belong to the recording. An element\n" +
				"of a tree is a line, indented by its depth with tabs: ControlType, \"Name\", (left,top,right,bottom). An\n" +
				"action's time_stamp of its axtree is the key that joins it with its dumps; the other files go by folder.",
			Pairing: "the first dump after end_time. Where ids leave a gap, actions were deleted: a new trajectory begins",
			State:   "the action's axtree, else the last dump before start_time",
			Domain:  "os",
			ID:      "none: by content",
			Stripped: "times, pre_move, children, marks and other marks of the recorder, all of a drag but its ends, the\n" +
				"actions of reduced_events_vis where there are complete ones",
			Sample: `[{"action":"click","id":0,"start_time":2.5,"end_time":2.75,"description":"Single left Click","button":"left","coordinate":{"x":9,"y":8},` +
				`"axtree":{"Name":"Taskbar","ControlType":"PaneControl","BoundingRectangle":{"left":0,"top":0,"right":80,"bottom":20},"Depth":0,"Children":[],"time_stamp":2.25}},` +
				`{"time_stamp":3.5,"axtree":{"Name":"Settings","ControlType":"WindowControl","BoundingRectangle":{"left":0,"top":0,"right":60,"bottom":20},"Depth":0,"Children":[],"time_stamp":3.5}},` +
				`{"task_name":"Open the settings.","description":""}]`,
		},
	}
}

// The kinds of part of a recording.
const (
	cuaActions  = 1 << iota // reduced_events_complete
	cuaShown                // reduced_events_vis: the same as they were shown to who named them
	cuaDumps                // a11y
	cuaElements             // element, html_element
	cuaRaw                  // events
	cuaMerged               // event_buffer
	cuaWindows              // top_window
	cuaPages                // html
	cuaAbout                // metadata
	cuaTask                 // task_name
)

// cuaKind tells what a value is, or what it lacks to be anything.
func cuaKind(v jsonscan.Value) (kind uint16, why string, marks int) {
	is := func(name string, k jsonscan.Kind) bool { return v.Get(name).Kind() == k }
	stamped := is("time_stamp", jsonscan.Number)
	switch {
	case v.Kind() != jsonscan.Object:
		return 0, "a part is " + article(v.Kind()) + ", want an object", 0
	case stamped && is("axtree", jsonscan.Object):
		return cuaDumps, "", 3
	case stamped && is("a11y_tree", jsonscan.Object), stamped && v.Get("html_element").Present():
		return cuaElements, "", 3
	case stamped && is("top_window_name", jsonscan.String):
		return cuaWindows, "", 3
	case stamped && is("action", jsonscan.String) && v.Get("event_idx").Present():
		if is("start_time", jsonscan.Number) {
			return cuaMerged, "", 4
		}
		return cuaRaw, "", 3
	case stamped && is("html", jsonscan.String):
		return cuaPages, "", 2
	case v.Get("obs_record_state_timings").Present() || v.Get("video_start_timestamp").Present():
		return cuaAbout, "", 2
	case is("task_name", jsonscan.String) && v.Get("description").Kind() == jsonscan.String && v.Len() == 2:
		return cuaTask, "", 2
	case !is("action", jsonscan.String) || !is("start_time", jsonscan.Number) || !is("end_time", jsonscan.Number):
		return 0, "neither an action with start_time and end_time nor a dump of a recording", 0
	case !v.Get("axtree").Present() && !(v.Get("id").Present() && v.Get("description").Present()):
		return 0, "an action with neither axtree nor id and description", 2
	case v.Get("event_start_idx").Present() || v.Get("coordinate").Present() || v.Get("trace").Present():
		return cuaActions, "", 5
	}
	return cuaShown, "", 4
}

func recogniseOpenCUA(v jsonscan.Value) (why string, marks int) {
	return recognisePart(v, cuaKind)
}

func openCUAPart(v jsonscan.Value, p *Parts) {
	kind, _, _ := cuaKind(v)
	p.Kinds |= kind
	switch kind {
	case cuaDumps:
		p.Gives = append(p.Gives, p.key(v.Get("time_stamp")))
	case cuaActions, cuaShown:
		if at := v.Get("axtree").Get("time_stamp"); at.Kind() == jsonscan.Number {
			p.Takes = append(p.Takes, p.key(at))
		}
	}
}

func openCUALacks(kinds uint16) string {
	switch acts, dumps := kinds&(cuaActions|cuaShown) != 0, kinds&cuaDumps != 0; {
	case acts && dumps:
		return ""
	case acts:
		return "the actions of a recording, and no file beside them holds its accessibility trees (a11y)"
	case dumps:
		return "the accessibility trees of a recording, and no file beside them holds its actions (reduced_events)"
	}
	return "a part of a recording, and no files beside it hold its actions (reduced_events) and accessibility trees (a11y)"
}
