"""What may be thought before a step of a reference, by the purpose of the step."""

SAID = {
    "view": (
        'The navigation has "{on}", where what the task is about should be. I open it.',
        'What I need should be under "{on}", so I go there.',
        'I go to "{on}" in the navigation to look for what the task names.',
    ),
    "again": (
        'I go to "{on}" for the next part.',
        'This page has done its part; now I need "{on}".',
        'Next I need "{on}" from the navigation.',
    ),
    "search": (
        'The list may be long, so I search it for "{text}".',
        'There is a search: I put in "{text}" to find it quickly.',
        'Rather than reading the whole list, I search for "{text}".',
    ),
    "apply": (
        'What narrows the list is set; "{on}" shows what fits.',
        'Now "{on}", so that the list shows only what I asked for.',
        'I have put in what I look for, so I click "{on}".',
    ),
    "sort": (
        'I need the rows in order, so I choose "{on}".',
        'With "{on}" the row that I need comes first.',
    ),
    "filter": (
        'Only some of the rows count, so I open the list of "{on}".',
        '"{on}" can narrow the list, so I open what it offers.',
    ),
    "turn": (
        'The list goes on after the rows in sight, so I click "{on}".',
        'I have read the rows that are in sight; "{on}" leads to others.',
    ),
    "month": (
        'This month has no day that fits; "{on}" leads to the next one.',
        'What I look for is in a later month, so I click "{on}".',
    ),
    "scroll": (
        "The rows in sight are not all there are; I go to the end of the list for more.",
        "More rows come at the end of the list, so I go there.",
    ),
    "look": (
        "Not all that I have to read is in sight yet, so I go on.",
        "This page goes on; I read the rest of it too.",
    ),
    "named": (
        'The list shows "{on}", which the task names. I open it.',
        'There is "{on}", the one that the task is about, so I click on it.',
        '"{on}" is in sight, as the task calls it; its page should say more.',
    ),
    "row": (
        'I open "{on}" to see what its page says.',
        '"{on}" is here; I want to read its page.',
        'I look at "{on}" more closely.',
    ),
    "meant": (
        '"{on}" is one that the task is about, so I open it.',
        '"{on}" fits what the task asks for; on its page I can do what is needed.',
        'I open "{on}", because something is to be done to it.',
    ),
    "nothing": (
        'The search shows nothing that I can use, so I begin again with "{on}".',
        'That word was of no use. I go back to "{on}" and look in another way.',
    ),
    "part": (
        'What I want to read is not in sight; it should be under "{on}".',
        '"{on}" holds the rest of the facts, so I open it.',
    ),
    "menu": (
        'What I need is in a menu: I open "{on}".',
        'I open the menu "{on}" to see what can be chosen there.',
    ),
    "add": (
        'There has to be a new one, and "{on}" leads to its form.',
        'I click "{on}" to enter what the task asks for.',
    ),
    "edit": (
        'This is the right page, and something here has to change: "{on}".',
        'To change what this page says I click "{on}".',
    ),
    "delete": (
        'This is the one that has to go, so I click "{on}".',
        'The page is that of the row to be removed: "{on}".',
    ),
    "confirm": (
        'The page asks whether I am sure. It is the right one, so "{on}".',
        'It asks again before it deletes; I confirm with "{on}".',
    ),
    "step": (
        'The page offers "{on}", which is the step that is needed here.',
        'To bring it on I click "{on}".',
    ),
    "ask": (
        'My role may not do this itself; "{on}" asks for it.',
        'Somebody else has to allow this, so I click "{on}".',
    ),
    "fill": (
        'The task gives "{text}" for "{on}", so I put it in.',
        '"{on}" has to be "{text}"; I type it.',
        'Next is "{on}": "{text}", as asked.',
    ),
    "carry": (
        'I remember "{text}" from the page before; it goes into "{on}".',
        '"{on}" gets "{text}", which I have read before.',
    ),
    "empty": ('"{on}" has to be empty, so I clear it.',),
    "part_of_choice": (
        'I type "{text}" into "{on}", so that fewer choices are left.',
        '"{on}" offers many choices; "{text}" narrows them.',
    ),
    "choose": (
        'Next comes "{on}"; I open its list.',
        '"{on}" has a list of what it may be, so I open it.',
    ),
    "option": (
        'Of the choices for "{within}" I take "{on}".',
        '"{on}" is the right choice for "{within}".',
    ),
    "untag": (
        "One of what is chosen here does not belong to it; the sign in its box takes it away.",
        "This one has to go, so I click the sign that removes it.",
    ),
    "box": (
        'The box "{on}" is not yet as the task wants "{within}", so I click on it.',
        'For "{within}" the box "{on}" has to change; I click on it.',
    ),
    "toggle": (
        'The task wants "{on}" changed, so I click on it.',
        '"{on}" is not yet as it should be; I click on it.',
    ),
    "count": (
        "The number is not yet right; the button beside it brings it closer.",
        "One click on this button changes the number by one, so that it comes closer to what it should be.",
    ),
    "slider": (
        'I click on the slider "{on}", so that keys move it.',
        '"{on}" is a slider: after a click on it the keys move it.',
    ),
    "end_of_slider": (
        "The key {text} takes it to one end of its range.",
        "I bring it to an end of its range first, with the key {text}.",
    ),
    "key": (
        "I move on with the key {text}.",
        "The key {text} brings it closer to what it should be.",
    ),
    "save": (
        'All that was asked for is in the form, so I click "{on}".',
        'The form says what it should; "{on}".',
        'Nothing else has to change here: "{on}".',
    ),
    "in_the_way": (
        '"{on}" clears what stands in the way.',
        'Something covers what I need; "{on}" removes it.',
    ),
    "sure": (
        'The page asks once more; what it says is right, so "{on}".',
        'It wants to be sure. I go on with "{on}".',
    ),
    "name": (
        'The page asks who I am; the name at the top is "{text}".',
        'To go on I have to enter my name, which the page shows: "{text}".',
    ),
    "click": (
        'Next I need "{on}" on this page.',
        '"{on}" is what leads on from here.',
    ),
    "drag": (
        'The card "{on}" belongs to "{text}", so I drag it there.',
        'I take "{on}" and put it under "{text}".',
    ),
    "attach": (
        'For "{within}" I drag "{on}" into the box.',
        '"{on}" belongs to "{within}": I pull it from the tray into the box.',
    ),
    "read": (
        'The page says "{text}", which is what was asked for.',
        'I have found it: "{text}".',
        'What I was asked for stands here: "{text}".',
    ),
    "computed": (
        'From what I have read it follows: "{text}".',
        'I have seen all that counts; it comes to "{text}".',
    ),
    "impossible": (
        'What the task needs is not there, so it cannot be done: "{text}".',
        'I have looked where it should be, and it is not there. The answer is "{text}".',
    ),
    "nothing_left": (
        "Nothing is left to change: all that was asked for is done.",
        "Everything is as the task wants it, so I am done.",
    ),
    "done": (
        "The page shows the change; all that was asked for is done.",
        "Everything is as the task wants it, so I am done.",
    ),
}
"""By purpose; `{on}`, `{text}` and `{within}` are those of the step."""
