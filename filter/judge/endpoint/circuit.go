package endpoint

import "time"

// circuit keeps an endpoint that fails from being asked by everybody.
//
//	closed --BreakAfter failures in a row--> open --BreakFor--> one probe --answered--> closed
//	                                          ^                    |
//	                                          +--fails, time x 2---+--Probes failed--> down, for good
//
// While it is open, requests wait; once the endpoint is down, they end.
type circuit struct {
	failures int // in a row, while closed
	open     bool
	probing  bool // the probe is in flight
	probes   int  // that failed
	until    time.Time
	down     bool
	last     string // the failure that counted last
}

func (c *circuit) worked() { *c = circuit{down: c.down, last: c.last} }

func (c *circuit) failed(o *Options, p pass, f *failure, now time.Time) {
	c.last = f.error()
	switch {
	case c.down, c.open && !p.probe: // sent before it opened
		return
	case p.probe:
		c.probing = false
		c.probes++
		c.down = c.probes >= o.Probes
	default:
		c.failures++
		c.open = c.failures >= o.BreakAfter
	}
	if c.open {
		c.until = now.Add(o.BreakFor << min(c.probes, 3))
	}
}
