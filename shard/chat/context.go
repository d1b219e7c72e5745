package chat

import "strings"

// Context parts what stands before an action in a row, as text, into the system prompt, where the row
// begins with one, and the state that was shown. It is the inverse of System and Turn, for people to read:
// a prompt that holds these very headers may be parted in another place. The last line feeds may be missing
// from text, in a token that belongs to the action.
func (f *Format) Context(text string) (system, state string) {
	d := &f.def
	user := d.user.start + d.user.role + d.user.head
	inFirst := d.systemInUser != "" && strings.HasPrefix(text, d.begin)
	if d.systemInUser == "" {
		rest, ok := strings.CutPrefix(text, d.begin+d.system.start+d.system.role+d.system.head+d.system.gap)
		if at := strings.LastIndex(rest, d.system.end+d.system.after+user); ok && at >= 0 {
			system, text = rest[:at], rest[at:]
		}
	}
	_, body, _ := strings.Cut(text, user)
	body = strings.TrimPrefix(body, d.user.gap)
	if from := stateStart(body, inFirst, d.systemInUser); from >= 0 {
		if to := strings.LastIndex(body, strings.TrimSuffix(actionHeader, "\n")); to >= from+len(stateHeader) {
			state, body = body[from+len(stateHeader):to], body[:from]
		}
	}
	if inFirst {
		system = strings.TrimSuffix(body, d.systemInUser)
	}
	return system, state
}

// stateStart is where in a user message the state's header stands: at its start, or after the system prompt;
// -1 when it does not.
func stateStart(body string, inFirst bool, separator string) int {
	if strings.HasPrefix(body, stateHeader) {
		return 0
	}
	if at := strings.Index(body, separator+stateHeader); inFirst && at >= 0 {
		return at + len(separator)
	}
	return -1
}
