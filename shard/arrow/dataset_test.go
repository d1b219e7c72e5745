package arrow

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The texts are compared as texts: datasets 2 and 3 cannot read "List", and each of the seven keys of
// state.json is required.
func TestDatasetFiles(t *testing.T) {
	tests := []struct {
		name string
		got  []byte
		want string
	}{
		{"info of hf", DatasetInfo(ProfileHF), `{"features": {
  "input_ids": {"_type": "Sequence", "feature": {"_type": "Value", "dtype": "int32"}},
  "attention_mask": {"_type": "Sequence", "feature": {"_type": "Value", "dtype": "int32"}},
  "labels": {"_type": "Sequence", "feature": {"_type": "Value", "dtype": "int32"}}}}
`},
		{"info of weighted", DatasetInfo(ProfileWeighted), `{"features": {
  "input_ids": {"_type": "Sequence", "feature": {"_type": "Value", "dtype": "int32"}},
  "attention_mask": {"_type": "Sequence", "feature": {"_type": "Value", "dtype": "int32"}},
  "labels": {"_type": "Sequence", "feature": {"_type": "Value", "dtype": "int32"}},
  "loss_weight": {"_type": "Sequence", "feature": {"_type": "Value", "dtype": "float32"}}}}
`},
		{"state", State([]string{"data-p00000-00000.arrow", "data-p00000-00001.arrow"}, "fc5b6c2f632499d1", "train"), `{"_data_files": [
  {"filename": "data-p00000-00000.arrow"},
  {"filename": "data-p00000-00001.arrow"}],
 "_fingerprint": "fc5b6c2f632499d1",
 "_format_columns": null,
 "_format_kwargs": {},
 "_format_type": null,
 "_output_all_columns": false,
 "_split": "train"}
`},
		{"dict", DatasetDict([]string{"train", "validation"}), `{"splits": ["train", "validation"]}
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(tt.got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !json.Valid(tt.got) {
				t.Error("not JSON")
			}
		})
	}
}

func TestParseProfile(t *testing.T) {
	for p := range Profile(numProfiles) {
		if got, ok := ParseProfile(p.String()); got != p || !ok {
			t.Errorf("ParseProfile(%q) = %v, %v", p.String(), got, ok)
		}
	}
	if _, ok := ParseProfile("parquet"); ok {
		t.Error("ParseProfile takes an unknown name")
	}
}
