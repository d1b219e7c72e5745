// Package volatile knows what changes on a screen while nothing happens: ids given anew at every rendering, clocks,
// signs of battery and signal, the focus. Filters use it to tell an unchanged screen, the mask to tell the lines of a
// tree that an action has changed.
//
//	[a51] textbox 'Postcode' focused     Append    textbox 'Postcode', focus
//	TextView "15:37" #clock              SameClock TextView "15:38" #clock
package volatile
