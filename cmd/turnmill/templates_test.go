package main

import (
	"slices"
	"testing"

	prompts "github.com/turnmill/turnmill/shard/prompt"
)

// TestTemplatesTold: docs/templates.md names the pools, and where an answer stands in which form. The list of
// all is printed by the command that stands there.
func TestTemplatesTold(t *testing.T) {
	same(t, "docs/templates.md: pools", prompts.Pools(), firstCodes(tableIn(t, "docs/templates.md", "pool", "templates")))
	where := map[string][]string{}
	for _, tmpl := range prompts.All() {
		name := tmpl.Version
		if form := tmpl.Form(); form == "tags" {
			name = string(tmpl.Domain)
		}
		if !slices.Contains(where[tmpl.Form()], name) {
			where[tmpl.Form()] = append(where[tmpl.Form()], name)
		}
	}
	rows := tableIn(t, "docs/templates.md", "answer", "where")
	if len(rows) != len(where) {
		t.Errorf("%d forms in the text, %d in the templates", len(rows), len(where))
	}
	for _, row := range rows {
		form := codes(row[0])[0]
		same(t, "docs/templates.md: "+form, where[form], codes(row[1]))
	}
}
