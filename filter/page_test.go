package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// results is a page of n results, the first of which is named name.
func results(n int, name string) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "RootWebArea 'errors - Search', focused, url='https://s.example/?q=errors'\n\t[10] searchbox 'Search' value='%s'\n", name)
	for i := range n {
		fmt.Fprintf(b, "\t[%d] link '%s'\n\t\tStaticText 'Result %d'\n", 20+i, name, i)
		name = fmt.Sprint("another ", i)
	}
	return b.String()
}

func TestFailedPages(t *testing.T) {
	long := strings.Repeat("\n\tStaticText 'a sentence of the article'", 100)
	for _, c := range []struct {
		name, page string
		want       turnmill.Reason
	}{
		// Pages that ask for a proof of being human.
		{"Cloudflare, BrowserGym", "RootWebArea 'Just a moment...', focused\n\t[12] heading 'shop.example'\n\t[15] Iframe 'Widget'", turnmill.ReasonCaptcha},
		{"Cloudflare, WebArena", "Tab 0 (current): Just a moment...\n\n[1] RootWebArea 'Just a moment...' focused: True\n\t[3] heading 'shop.example'", turnmill.ReasonCaptcha},
		{"Cloudflare, an inactive tab", "Tab 0: Shop | Tab 1 (current): Just a moment... | Tab 2: x\n\n[1] RootWebArea 'Just a moment...'", turnmill.ReasonCaptcha},
		{"Cloudflare, HTML", "<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head><body>Sorry</body></html>", turnmill.ReasonCaptcha},
		{"a box alone", "RootWebArea 'shop.example'\n\t[3] heading 'shop.example'\n\t[4] checkbox 'Verify you are human'", turnmill.ReasonCaptcha},
		{"reCAPTCHA alone", "RootWebArea ''\n\t[3] Iframe 'reCAPTCHA'\n\t\t[4] checkbox \"I'm not a robot\", checked='false'", turnmill.ReasonCaptcha},
		{"Google", "RootWebArea 'https://s.example/search?q=x'\n\tStaticText 'Our systems have detected unusual traffic from your computer network.  This page checks'", turnmill.ReasonCaptcha},
		{"Google's address", "RootWebArea 'x', url='https://www.google.com/sorry/index?continue=x'\n\tLabelText", turnmill.ReasonCaptcha},
		{"press and hold", "RootWebArea 'Robot or human?'\n\tStaticText 'Press & Hold'", turnmill.ReasonCaptcha},
		{"Android", "UI element 0: {\"index\": 0, \"text\": \"shop.example\"}\nUI element 1: {\"index\": 1, \"text\": \"Verify you are human\", \"is_clickable\": True}", turnmill.ReasonCaptcha},
		{"Playwright", "- Page URL: https://shop.example/\n- Page Title: Just a moment...\n- generic [ref=e2]: wait", turnmill.ReasonCaptcha},

		// Pages that did not load.
		{"nginx", "RootWebArea '502 Bad Gateway'\n\t[2] heading '502 Bad Gateway'\n\tStaticText 'nginx'", turnmill.ReasonHTTPError},
		{"nginx as text", "404 Not Found\n\nnginx/1.18.0", turnmill.ReasonHTTPError},
		{"nginx as HTML", "<html>\n<head><title>404 Not Found</title></head>\n<body>\n<center><h1>404 Not Found</h1></center>", turnmill.ReasonHTTPError},
		{"a shop's own", "Tab 0 (current): 404 Not Found\n\n[1] RootWebArea '404 Not Found' focused: True\n\t[5] link 'My Account'\n\t[6] link 'My Cart'", turnmill.ReasonHTTPError},
		{"Akamai", "RootWebArea 'Access Denied'\n\t[2] heading 'Access Denied'", turnmill.ReasonHTTPError},
		{"Cloudflare's gateway", "RootWebArea 'shop.example | 502: Bad gateway'\n\tStaticText 'Host Error'", turnmill.ReasonHTTPError},
		{"Chrome", "RootWebArea 'shop.example'\n\t[7] heading 'This site can’t be reached'\n\tStaticText 'ERR_NAME_NOT_RESOLVED'", turnmill.ReasonHTTPError},
		{"Chrome, Python's quotes", "RootWebArea 'shop.example'\n\t[7] heading \"This site can't be reached\"", turnmill.ReasonHTTPError},
		{"Chrome's address", "RootWebArea 'shop.example', url='chrome-error://chromewebdata/'\n\t[7] button 'Reload'", turnmill.ReasonHTTPError},
		{"Chrome on Android", "FrameLayout (0,0,9,9)\n\tTextView \"This site can’t be reached\" (0,0,9,9)", turnmill.ReasonHTTPError},
		{"Firefox", "RootWebArea 'Problem loading page'\n\theading 'Hmm. We’re having trouble finding that site.'", turnmill.ReasonHTTPError},
		{"blank", "Tab 0 (current): \n\n[1072] RootWebArea '' focused: True", turnmill.ReasonHTTPError},
		{"blank, BrowserGym", "RootWebArea '', focused", turnmill.ReasonHTTPError},
		{"blocked", "RootWebArea '', focused, url='about:blank#blocked'", turnmill.ReasonHTTPError},
		{"blocked, by its label", "URL: about:blank#blocked\nRootWebArea 'x'", turnmill.ReasonHTTPError},

		// Pages that speak of such things.
		{"an article about CAPTCHAs", "RootWebArea 'CAPTCHA - Encyclopedia'\n\theading 'CAPTCHA'\n\tStaticText 'Sites ask you to verify you are human.'\n\tStaticText 'I am not a robot'", ""},
		{"an article named so", "RootWebArea 'CAPTCHA'\n\theading 'CAPTCHA'" + long, ""},
		{"a long article with a challenge's title", "RootWebArea 'Just a moment...'" + long, ""},
		{"a list of results", results(6, "404 Not Found"), ""},
		{"a short list of results", results(1, "404 Not Found"), ""},
		{"results named after a challenge", results(3, "Just a moment..."), ""},
		{"an article about a status", "RootWebArea '404 Not Found - HTTP | Reference'\n\theading '404 Not Found'", ""},
		{"a long article with a status for a title", "RootWebArea '404 Not Found'" + long, ""},
		{"a form with a box at its end", "RootWebArea 'Sign up'\n" + strings.Repeat("\t[2] textbox 'Field'\n", 14) + "\t[3] checkbox \"I'm not a robot\"", ""},
		{"element 404", "RootWebArea 'Shop'\n\t[404] button 'Buy'\n\t[502] link 'Order 14404'\n\tStaticText 'Error'", ""},
		{"a log in a page", "RootWebArea 'Build 7'\n\tStaticText 'GET /x 502 Bad Gateway'\n\tStaticText 'net::ERR_NAME_NOT_RESOLVED at shop.example'", ""},
		{"a root without a name, with a page", "RootWebArea ''\n\t[3] button 'Go'", ""},
		{"an issue about access", "RootWebArea 'Access denied for guests · Issue 7'\n\theading 'Access denied'", ""},
		{"plain", "RootWebArea 'Shop'\n\t[4] button 'Buy'", ""},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for place, trajectory := range map[string]*turnmill.Trajectory{
				"observation": screens(turnmill.DomainWeb, [3]string{"start", "click [1]", c.page}, [3]string{c.page, "click [2]", "end"}),
				"last":        screens(turnmill.DomainWeb, [3]string{"start", "click [1]", c.page}),
			} {
				if _, reason := reasonsOf(t, trajectory, "captcha", "http-error"); reason != c.want {
					t.Errorf("%s: reason %q, want %q", place, reason, c.want)
				}
			}
			terminal := screens(turnmill.DomainTerminal, [3]string{"start", "curl", c.page})
			if _, reason := reasonsOf(t, terminal, "captcha", "http-error"); reason != "" {
				t.Errorf("in a terminal: reason %q", reason)
			}
		})
	}
}

// A run may begin at a blank page or open one; another first page that failed costs it.
func TestFailedPagesAround(t *testing.T) {
	const blank = "RootWebArea '', focused"
	for _, c := range []struct {
		name string
		turn [3]string
		want turnmill.Reason
	}{
		{"begins blank", [3]string{blank, "goto('https://shop.example')", "RootWebArea 'Shop'"}, ""},
		{"a new tab", [3]string{"RootWebArea 'Shop'", `{"name":"new_tab","arguments":{}}`, blank}, ""},
		{"about:blank on demand", [3]string{"RootWebArea 'Shop'", "goto('about:blank')", blank}, ""},
		{"a click", [3]string{"RootWebArea 'Shop'", "click('a1')", blank}, turnmill.ReasonHTTPError},
		{"begins with an error", [3]string{"RootWebArea '502 Bad Gateway'", "goto('https://shop.example')", "RootWebArea 'Shop'"}, turnmill.ReasonHTTPError},
	} {
		if _, reason := reasonsOf(t, screens(turnmill.DomainWeb, c.turn), "http-error"); reason != c.want {
			t.Errorf("%s: reason %q, want %q", c.name, reason, c.want)
		}
	}
}

func TestMissingState(t *testing.T) {
	full, none := [3]string{"s", "a", "o"}, [3]string{"", "a", "o"}
	reply, pause, refused := [3]string{"", "reply", "o"}, [3]string{"", "pause", "o"}, [3]string{"", "a", garbled}
	for _, c := range []struct {
		name    string
		turns   [][3]string
		initial string
		want    turnmill.Reason
	}{
		{"all there", [][3]string{full, full}, "", ""},
		{"one missing", [][3]string{full, none, full}, "", turnmill.ReasonMissingState},
		{"the last missing", [][3]string{full, none}, "", turnmill.ReasonMissingState},
		{"initial: from the second on", [][3]string{none, full, full}, "", ""},
		{"initial, and another", [][3]string{none, full, none}, "", turnmill.ReasonMissingState},
		{"none at all", [][3]string{none, none}, "", turnmill.ReasonMissingState},
		{"one turn without", [][3]string{none}, "", turnmill.ReasonMissingState},
		{"none, from an initial state", [][3]string{none, none}, "page", ""},
		{"some, from an initial state", [][3]string{full, none}, "page", turnmill.ReasonMissingState},
		{"a person's reply needs none", [][3]string{full, reply, full}, "", ""},
		{"a pause needs none", [][3]string{full, pause, full}, "", ""},
		{"the first that stays", [][3]string{pause, none, full}, "", ""},
		{"a refused action gives its state on", [][3]string{full, refused, full}, "", turnmill.ReasonMissingState},
		{"no turns", nil, "", ""},
	} {
		for _, domain := range []turnmill.Domain{turnmill.DomainWeb, turnmill.DomainAndroid, turnmill.DomainOS, turnmill.DomainMCP, turnmill.DomainTerminal} {
			trajectory := screens(domain, c.turns...)
			trajectory.System.InitialState = c.initial
			for i := range trajectory.Turns {
				switch trajectory.Turns[i].Action {
				case "reply":
					trajectory.Turns[i].Dialogue = true
				case "pause":
					trajectory.Turns[i].HasAction = false
				}
			}
			want := c.want
			if domain == turnmill.DomainMCP || domain == turnmill.DomainTerminal {
				want = ""
			}
			if _, reason := reasonsOf(t, trajectory, "no-action", "retry-cycle", "missing-state"); reason != want {
				t.Errorf("%s, %s: reason %q, want %q", c.name, domain, reason, want)
			}
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add("Tab 0 (current): x\n[1] RootWebArea 'Just a moment...', url='a'")
	f.Add("<title>404 Not Found</title>\n\t'\\'\"'")
	f.Add("a\tb [SEP] c <x>y</x> StaticText'z'")
	chain, _ := New([]string{"captcha", "http-error"}, Options{})
	f.Fuzz(func(t *testing.T, text string) {
		once := screens(turnmill.DomainWeb, [3]string{"", "click", text})
		_, first := chain.Apply(once, nil)
		if _, again := chain.Fork().Apply(once, nil); first != again {
			t.Errorf("%q: %q, then %q", text, first, again)
		}
		long := screens(turnmill.DomainWeb, [3]string{"", "click", text + strings.Repeat("\nline", mostLines)})
		if _, reason := chain.Apply(long, nil); reason != "" {
			t.Errorf("%q: %q although it is long", text, reason)
		}
	})
}

// Pages on one line of megabytes, which patterns may ask for, on which looking for each end anew would take hours.
func TestPageLinear(t *testing.T) {
	p := &Patterns{Captcha: []Pattern{{Text: "x-y-z", Lines: 1 << 20}}, HTTPError: []Pattern{{Text: "*x*y*z*", Lines: limitLines}}}
	chain, err := New([]string{"captcha", "http-error"}, Options{MinTurns: 1, Patterns: p})
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string]string{
		"ends of tags":         strings.Repeat(">", 1<<20),
		"quotes nothing ends":  strings.Repeat(` 'a "b"`, 1<<17),
		"quotes of both kinds": strings.Repeat(` "a 'b'`, 1<<17),
		"tags":                 strings.Repeat("<b>c</b>", 1<<17),
		"cells":                strings.Repeat("a\tb [SEP] ", 1<<17),
	} {
		for end, want := range map[string]turnmill.Reason{"": "", "\n\t'x-y-z'": turnmill.ReasonCaptcha, "\n<i>x-y-z</i>": turnmill.ReasonCaptcha} {
			trajectory := screens(turnmill.DomainWeb, [3]string{"start", "click [1]", page + end})
			if _, reason := chain.Apply(trajectory, nil); reason != want {
				t.Errorf("%s, then %q: reason %q, want %q", name, end, reason, want)
			}
		}
	}
}

// A pattern for more lines than a record can have would meet nothing.
func TestPatternLines(t *testing.T) {
	for lines, ok := range map[int]bool{0: true, 1: true, limitLines: true, limitLines + 1: false, 1 << 62: false, -1: false} {
		p := &Patterns{Captcha: []Pattern{{Text: "x", Lines: lines}}}
		if err := p.Validate(); (err == nil) != ok {
			t.Errorf("lines %d: %v", lines, err)
		}
	}
}
