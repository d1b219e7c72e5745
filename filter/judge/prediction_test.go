package judge

import "testing"

func TestExtract(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         Prediction
	}{
		{"plain", "a.txt\nb.txt", Prediction{Text: "a.txt\nb.txt"}},
		{"tagged", "<predicted_observation>a</predicted_observation>", Prediction{"a", true, true}},
		{"tagged with prose around", "Here:\n<predicted_observation>\na\n</predicted_observation>\nDone.", Prediction{"a", true, true}},
		{"last block", "<predicted_observation>a</predicted_observation><predicted_observation>b</predicted_observation>", Prediction{"b", true, true}},
		{"unclosed", "Here:\n<predicted_observation>\na\nb", Prediction{"a\nb", true, false}},
		{"last unclosed", "<predicted_observation>a</predicted_observation> or <predicted_observation>b", Prediction{"b", true, false}},
		{"capitals", "<Predicted_Observation>a</PREDICTED_OBSERVATION>", Prediction{"a", true, true}},
		{"silent answer", "<predicted_observation></predicted_observation>", Prediction{"", true, true}},
		{"nothing", "", Prediction{}},
		{"thinking", "<think>b</think>a", Prediction{Text: "a"}},
		{"thinking in the middle", "a<think>b</think>c", Prediction{Text: "ac"}},
		{"thinking twice", "<think>b</think>a<think>c</think>d", Prediction{Text: "ad"}},
		{"orphan end", "b</think>a", Prediction{Text: "a"}},
		{"orphan end twice", "b</think>c</think>a", Prediction{Text: "a"}},
		{"orphan start", "<think>b", Prediction{}},
		{"orphan start, tagged", "<think>b<predicted_observation>a</predicted_observation>", Prediction{"a", true, true}},
		{"block within thinking", "<think><predicted_observation>b</predicted_observation></think>a", Prediction{Text: "a"}},
		{"block before an orphan end", "<predicted_observation>b</predicted_observation></think><predicted_observation>a</predicted_observation>", Prediction{"a", true, true}},
		{"tag named before it is used", "I use <predicted_observation> tags.\n<predicted_observation>a</predicted_observation>", Prediction{"a", true, true}},
		{"think tags as content", "<predicted_observation>a <think>b</think> c</predicted_observation>", Prediction{"a <think>b</think> c", true, true}},
		{"orphan think end as content", "<predicted_observation>{% if '</think>' in x %}</predicted_observation>", Prediction{"{% if '</think>' in x %}", true, true}},
		{"marker", "**Environment Observation:**\na", Prediction{Text: "a"}},
		{"marker, plain, same line", "Environment Observation: a", Prediction{Text: "a"}},
		{"marker in the block", "<predicted_observation>\n**Environment Observation:**\n\na\n</predicted_observation>", Prediction{"a", true, true}},
		{"think tags after the marker", "**Environment Observation:**\na </think> b <think> c", Prediction{Text: "a </think> b <think> c"}},
		{"marker within thinking", "<think>**Environment Observation:** b</think>a", Prediction{Text: "a"}},
		{"marker, then a block", "**Environment Observation:**\n<think>b</think><predicted_observation>a</predicted_observation>", Prediction{"a", true, true}},
		{"marker alone", "**Environment Observation:**", Prediction{}},
		{"marker later is content", "a\n**Environment Observation:**\nb", Prediction{Text: "a\n**Environment Observation:**\nb"}},
		{"indent of the first line stays", "\n\n  a\n b\n\n", Prediction{Text: "  a\n b"}},
		{"a tag with a blank is content", "<predicted_observation >a", Prediction{Text: "<predicted_observation >a"}},
		{"another tag's end", "</predicted_observation>a", Prediction{Text: "</predicted_observation>a"}},
		{"CRLF", "\r\n**Environment Observation:**\r\na\r\n", Prediction{Text: "a"}},
	} {
		if got := Extract(tt.answer); got != tt.want {
			t.Errorf("%s: %q: got %+v, want %+v", tt.name, tt.answer, got, tt.want)
		}
	}
}
