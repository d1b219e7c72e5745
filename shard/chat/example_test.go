package chat_test

import (
	"fmt"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toytoken"
	"github.com/turnmill/turnmill/shard/chat"
)

// A format writes messages as tokens, and says where the turn's action and observation lie among them.
func Example() {
	var tokenizer toytoken.Tokenizer // any turnmill.Vocabulary and turnmill.Encoder
	format, err := chat.New("chatml", tokenizer, chat.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func(ids []int32) string {
		var b []byte
		for _, id := range ids {
			b = tokenizer.AppendText(b, id)
		}
		return strings.ReplaceAll(string(b), "\n", "⏎")
	}
	text := chat.NewText(tokenizer)
	format.System(text, &turnmill.SystemPrompt{TaskDescription: "You are a shell."})
	format.Turn(text, &turnmill.Turn{HasAction: true, Action: "ls", Observation: "a.txt\n"}, chat.Place{Last: true})
	if err := text.Err(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(show(text.IDs))
	fmt.Println(show(text.IDs[text.Action.Start:text.Action.End]))
	fmt.Println(show(text.IDs[text.Observation.Start:text.Observation.End]))
	// Output:
	// <|im_start|>system⏎You are a shell.<|im_end|>⏎<|im_start|>user⏎ls<|im_end|>⏎<|im_start|>assistant⏎a.txt⏎<|im_end|>⏎
	// ls<|im_end|>
	// a.txt⏎<|im_end|>
}

// Auto goes by the control tokens that a tokenizer has.
func ExampleAuto() {
	name, err := chat.Auto(toytoken.Tokenizer{})
	fmt.Println(name, err)
	// Output: chatml <nil>
}
