package formats

import (
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// chatMessage holds the members of one message.
type chatMessage struct {
	role, content, toolCalls, functionCall, toolCallID jsonscan.Value
	reasoning                                          [2]jsonscan.Value // reasoning_content, reasoning
}

func (c *chat) readMessage(v jsonscan.Value) chatMessage {
	var m chatMessage
	for k, x := range v.Members() {
		switch c.out.key(k) {
		case "role":
			m.role = x
		case "content":
			m.content = x
		case "tool_calls":
			m.toolCalls = x
		case "function_call":
			m.functionCall = x
		case "tool_call_id":
			m.toolCallID = x
		case "reasoning_content":
			m.reasoning[0] = x
		case "reasoning":
			m.reasoning[1] = x
		}
	}
	return m
}

// message takes messages[i].
func (c *chat) message(v jsonscan.Value, i int) error {
	if v.Kind() != jsonscan.Object {
		return c.badMessage(i, "is "+article(v.Kind())+", want an object")
	}
	m := c.readMessage(v)
	who, think := chatRole(m.role), &c.aside
	switch who {
	case roleNone:
		return c.badMessage(i, "its role is none of a chat (system, developer, user, assistant, tool, function)")
	case roleAgent:
		think = &c.think
		c.agent()
	}
	thinking := think.n
	w, ok := c.out.content(m.content, think)
	if !ok {
		if why := alienPart(m.content); why != "" {
			return wrongFormat(chatName, fmt.Sprintf("%s[%d]: %s", c.list, i, why))
		}
		return c.badMessage(i, "content is neither a text nor a list of parts")
	}
	switch who {
	case roleSystem:
		c.instruct(w.text)
	case roleUser:
		c.person(w)
	case roleTool:
		c.answer(result{id: c.out.id(m.toolCallID), text: w.text, mute: w.mute})
	case roleAgent:
		if err := c.fromAgent(&m, w, thinking); err != nil {
			return inside(c.list, i, err)
		}
	}
	return nil
}

type role uint8

const (
	roleNone role = iota
	roleSystem
	roleUser
	roleAgent
	roleTool
)

func chatRole(v jsonscan.Value) role {
	switch {
	case v.Is("assistant"):
		return roleAgent
	case v.Is("tool"), v.Is("function"):
		return roleTool
	case v.Is("user"):
		return roleUser
	case v.Is("system"), v.Is("developer"):
		return roleSystem
	}
	return roleNone
}

// fromAgent adds a message to the act. thinking is the number of thoughts before the message.
func (c *chat) fromAgent(m *chatMessage, w words, thinking int) error {
	calls := len(c.calls)
	if err := c.toolCalls(m.toolCalls); err != nil {
		return err
	}
	if len(c.calls) == calls && m.functionCall.Present() {
		if err := c.readCall(m.functionCall); err != nil {
			return under("function_call", err)
		}
	}
	c.reasonings(m)
	text := c.out.withoutThinking(w.text, &c.think)
	if !c.say(text) && len(c.calls) == calls && c.think.n == thinking && !w.mute {
		c.out.note(turnmill.NoteEmptiedMessage)
	}
	return nil
}

// reasonings takes the members that hold reasoning.
func (c *chat) reasonings(m *chatMessage) {
	c.think.add(m.reasoning[0].Str(&c.out.arena))
	if string(m.reasoning[1].Raw()) != string(m.reasoning[0].Raw()) { // some servers write it twice
		c.think.add(m.reasoning[1].Str(&c.out.arena))
	}
}

func (c *chat) toolCalls(list jsonscan.Value) error {
	if !list.Present() {
		return nil
	}
	if list.Kind() != jsonscan.Array {
		return badField("tool_calls", "an array", list)
	}
	i := 0
	for v := range list.Elems() {
		if err := c.readCall(v); err != nil {
			return inside("tool_calls", i, err)
		}
		i++
	}
	return nil
}

func (c *chat) readCall(v jsonscan.Value) error {
	k, err := c.out.readCall(v)
	if err == nil {
		c.call(k)
	}
	return err
}

func (c *chat) badMessage(i int, what string) error {
	return reject(turnmill.ReasonBadMessage, "%s[%d]: %s", c.list, i, what)
}
