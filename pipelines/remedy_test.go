package pipelines

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckRemedy: after a check that failed, what it says to do makes the run sound again.
func TestCheckRemedy(t *testing.T) {
	flip := func(name string) error {
		data, err := os.ReadFile(name)
		if err == nil {
			data[len(data)/2] ^= 1
			err = os.WriteFile(name, data, 0o666)
		}
		return err
	}
	for _, c := range []struct {
		name, file string
		damage     func(string) error
		says       string
		delete     string
		missing    bool
	}{
		{"a shard that was changed", shardPath(train, 1, 0), flip, "delete commits/p00001.json in ", commitPath(1), false},
		{"a shard that is missing", shardPath(train, 1, 0), os.Remove, "delete commits/p00001.json in ", commitPath(1), true},
		{"turns that are missing", turnsPath(0), os.Remove, "delete commits/p00000.json in ", commitPath(0), true},
		{"rejects that are missing", rejectsPath(2), os.Remove, "delete commits/p00002.json in ", commitPath(2), true},
		{"a commit that is missing", commitPath(1), os.Remove, "to mend it: give the same turnmill cpt command again, which does anew", "", true},
		{"a file of the whole run", "train/state.json", os.Remove, "give the same turnmill cpt command again, which does anew", "", true},
		{"the manifest", "manifest.json", flip, "which does anew", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := small(t)
			mustRun(t, o)
			if err := c.damage(filepath.Join(o.Output, filepath.FromSlash(c.file))); err != nil {
				t.Fatal(err)
			}
			_, err := Check(context.Background(), checkOptions(&o, true))
			wantError(t, err, c.file, "to mend it: ", c.says)
			lines := strings.Split(err.Error(), "\n")
			if !strings.HasPrefix(lines[len(lines)-1], "to mend it: ") {
				t.Errorf("what to do does not stand last: %q", lines)
			}
			if c.missing && (len(lines) != 2 || lines[0] != c.file+": missing") {
				t.Errorf("a file that is missing is said in %q", lines)
			}
			if c.delete != "" {
				if err := os.Remove(filepath.Join(o.Output, filepath.FromSlash(c.delete))); err != nil {
					t.Fatal(err)
				}
			}
			mustRun(t, o)
			mustCheck(t, o)
		})
	}
}

// TestUnfinished: what goes on with a run depends on what of it is done.
func TestUnfinished(t *testing.T) {
	o := small(t)
	if _, err := PlanCPT(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	p, err := readPlan(o.Output)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, unfinished(o.Output, p), "3 of 3 partitions are not done", "turnmill run "+o.Output+" --partition 0", "the same turnmill cpt command")
	mustRun(t, o)
	if err := os.Remove(filepath.Join(o.Output, commitPath(2))); err != nil {
		t.Fatal(err)
	}
	wantError(t, unfinished(o.Output, p), "1 of 3 partitions are not done", "--partition 2")
}

// TestLittleMemory: a run that --memory has no room for leaves nothing that another plan would be refused for.
func TestLittleMemory(t *testing.T) {
	o := small(t)
	enough := o.Memory
	o.Memory = 1 << 20
	_, err := CPT(context.Background(), o)
	wantUsage(t, err, "--memory 1048576: too little for one worker; try --memory ")
	if _, err := os.Stat(filepath.Join(o.Output, "plan.json")); err == nil {
		t.Error("a plan was written")
	}
	o.Memory, o.SeqLen = enough, o.SeqLen+100
	mustRun(t, o)
}
