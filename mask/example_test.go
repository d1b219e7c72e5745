package mask_test

import (
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
)

// A note that comes back as it was sent is an echo: the built-in table keeps one in twenty.
func Example() {
	m, err := mask.New(mask.Default(), "0", mask.ModeTurn)
	if err != nil {
		fmt.Println(err)
		return
	}
	turns := []turnmill.Turn{
		{Index: 0, HasAction: true, Action: `{"name":"get_order","arguments":{"order":1183}}`,
			Observation: `{"order":1183,"state":"in transit","depot":"Weir Lane","eta":"Thursday"}`},
		{Index: 1, HasAction: true, Action: `{"name":"send_note","arguments":{"depot":"Weir Lane","note":"customer away until Friday"}}`,
			Observation: `{"depot":"Weir Lane","note":"customer away until Friday","ok":true}`},
	}
	t := turnmill.Trajectory{ID: "shop-8", Turns: turns}
	for i := range turns {
		d := m.Decide(&t, i)
		fmt.Printf("%d words, %d words, %d shared: %v, keep %v, kept %v\n",
			d.ActionWords, d.ObservationWords, d.SharedWords, d.Category, d.Keep, d.Kept)
	}
	// Output:
	// 5 words, 10 words, 2 shared: retrieval, keep 1, kept true
	// 11 words, 10 words, 8 shared: echo, keep 0.05, kept false
}

// Explain shows the words behind the integers, and every row of the table that holds.
func ExampleExplain() {
	table := mask.Default()
	e := mask.Explain(&table, &turnmill.Turn{Action: "fetch docs index", Observation: "fetch docs index status 200 title Handbook pages"})
	fmt.Println(e.Action)
	fmt.Println(e.Observation)
	for _, i := range e.Rows {
		fmt.Println(table.Rows[i].String())
	}
	// Output:
	// [docs fetch index]
	// [200 docs fetch handbook index pages status title]
	// retrieval: novelty >= 60%, length ratio > 1
	// expansion: overlap >= 50%, novelty >= 50%, length ratio > 1.5
	// action: novelty >= 50%, length ratio <= 1 or short
}
