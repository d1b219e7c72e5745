package formats

import (
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// atif decodes documents of the Agent Trajectory Interchange Format.
type atif struct {
	acts
	dialect dialect
	asked   bool   // a user step has been seen
	page    string // the last page that was observed
	shell   bool   // replies follow the text protocol of Terminus
}

func (a *atif) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, a.record)
}

func (a *atif) record(v jsonscan.Value, out *Decoded) error {
	if v.Kind() != jsonscan.Object || v.Get("steps").Kind() == jsonscan.Invalid {
		why, _ := recogniseATIF(v)
		return wrongFormat(atifName, why)
	}
	own := v.Get("trajectory_id")
	if own.Kind() != jsonscan.String && own.Kind() != jsonscan.Number {
		own = v.Get("session_id")
	}
	err := a.tree(v, out.id(own), out)
	if len(out.Trajectories) == 0 && len(out.Rejected) == 1 {
		return err
	}
	return nil
}

// tree decodes a document and those of its sub-agents, which hold it. One that is bad costs itself. The
// error is that of the first document.
func (a *atif) tree(v jsonscan.Value, own string, out *Decoded) error {
	n := len(out.Trajectories)
	err := a.document(v, own, out)
	if err != nil {
		out.refuse(n, err)
	}
	i := 0
	for sub := range v.Get("subagent_trajectories").Elems() {
		k := len(out.Rejected)
		if err := a.tree(sub, own, out); err != nil {
			out.Rejected[k].Err = fmt.Errorf("subagent_trajectories[%d]: %w", i, out.Rejected[k].Err)
		}
		i++
	}
	return err
}

func (a *atif) document(v jsonscan.Value, own string, out *Decoded) error {
	steps := v.Get("steps")
	if steps.Kind() != jsonscan.Array {
		return badField("steps", "an array", steps)
	}
	a.dialect = dialectOf(v)
	if a.dialect == dialectUnpaired {
		return reject(turnmill.ReasonWrongFormat, unpairedRun)
	}
	a.begin(out.trajectory(atifName, own), out)
	a.asked, a.shell, a.page = false, false, ""
	declared, err := a.about(v)
	if err != nil {
		return err
	}
	i := 0
	for step := range steps.Elems() {
		if err := a.step(step, i); err != nil {
			return inside("steps", i, err)
		}
		i++
	}
	a.finish()
	a.t.Domain = domainOf(a.kinds, declared)
	switch {
	case a.page != "":
		a.t.Domain = turnmill.DomainWeb
	case a.shell && a.t.Domain == turnmill.DomainUnknown:
		a.t.Domain = turnmill.DomainTerminal
	}
	out.finish(a.t, a.opts)
	return nil
}

// about reads what the document says of the run.
func (a *atif) about(v jsonscan.Value) (toolKinds, error) {
	out, agent, extra := a.out, v.Get("agent"), v.Get("extra")
	adp := extra.Get("adp_details")
	var task, source ranked
	task.offer(extra.Get("task_id"), 0)
	task.offer(extra.Get("instance_id"), 1)
	task.offer(adp.Get("source_id"), 2)
	source.offer(extra.Get("source_dataset"), 0)
	source.offer(adp.Get("source"), 1)
	a.t.TaskID, a.t.Agent = out.id(task.v), out.id(agent.Get("name"))
	if name := source.v.Str(&out.arena); name != "" {
		a.t.Source = name
	}
	if a.dialect != dialectADP { // whose data sets hold answers of models too
		a.t.Observed = turnmill.ObservedTrue
	}
	a.t.Meta = out.object(
		member{name: "schema_version", text: v.Get("schema_version").Str(&out.arena)},
		member{name: "model_name", text: agent.Get("model_name").Str(&out.arena)},
		member{name: "continued_trajectory_ref", text: v.Get("continued_trajectory_ref").Str(&out.arena)},
	)
	return a.declare("agent.tool_definitions", agent.Get("tool_definitions"))
}
