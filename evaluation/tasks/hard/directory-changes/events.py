"""Records of a directory's audit log, with values as JSON in text."""

import json

VALUES = {
    "Department": ["Sales", "Marketing", "Forschung & Entwicklung", 'R"D'],
    "AccountEnabled": [True, False],
    "Role.DisplayName": ["Global Reader", "User Administrator"],
    "Included Updated Properties": ["Department", "AccountEnabled"],
    "StrongAuthenticationMethod": [{"MethodType": 6, "Default": True}, {"MethodType": 0, "Default": False}],
    "PasswordAge": [1, 90],
}


def value(choices, name, form):
    if form == 0:
        return None
    found = choices.one_of(VALUES[name])
    if form == 1:
        found = [found]
    elif form == 2:
        found = []
    elif form == 3:
        found = [found, choices.one_of(VALUES[name])]
    return json.dumps(found, ensure_ascii=choices.chance(0.5), separators=(",", ":"))


def modified(choices):
    names = [name for name in VALUES if choices.chance(0.5)]
    made = []
    for name in names:
        before, after = (choices.one_of([0, 1, 1, 1, 2, 3, 4]) for _ in range(2))
        made.append({"displayName": name, "oldValue": value(choices, name, before), "newValue": value(choices, name, after)})
    if choices.chance(0.7):
        made.append({"displayName": "TargetId.UserType", "oldValue": None, "newValue": "\"Member\""})
    return made


def target(choices):
    made = {"id": f"t-{choices.hexadecimal(8)}", "type": choices.one_of(["User", "Group", "Role"])}
    if choices.chance(0.6):
        made["displayName"] = choices.one_of(["Ana", "Ops team", None])
    if choices.chance(0.6):
        made["userPrincipalName"] = choices.one_of(["ana@example.com", "bo@example.com"])
    if choices.chance(0.95):
        made["modifiedProperties"] = modified(choices)
    return made


def record(choices, number):
    made = {
        "event_type": "directory.changed",
        "id": f"Directory_{number:04}",
        "correlationId": f"co-{choices.below(9)}",
        "activityDisplayName": choices.one_of(["Update user", "Add member to role", "Disable account"]),
        "activityDateTime": f"2026-04-1{choices.below(10)}T0{choices.below(10)}:15:00.{choices.below(10**7):07}Z",
        "result": choices.one_of(["success", "success", "Success", "failure"]),
    }
    who = choices.below(4)
    if who < 2:
        made["initiatedBy"] = {"user": {"id": "u-1", "userPrincipalName": choices.one_of(["root@example.com", "hr@example.com"])}, "app": None}
    elif who == 2:
        made["initiatedBy"] = {"user": None, "app": {"displayName": "Provisioning"}}
    made["targetResources"] = [target(choices) for _ in range(choices.one_of([0, 1, 1, 1, 2, 3]))]
    return made


def samples(choices):
    for number in range(16):
        yield record(choices, number)


def held_out(choices):
    for number in range(100, 150):
        yield record(choices, number)
    plain = {"event_type": "directory.changed", "correlationId": "co-odd", "activityDateTime": "2026-04-20T00:00:00Z", "result": "success"}

    def of(*properties, **more):
        return {**plain, "id": "Directory_odd", "targetResources": [{"id": "t-odd", "modifiedProperties": list(properties), **more}]}

    # Values that aren't JSON; the same property twice, of which the first one tells the department; no name; a target without an id.
    yield of({"displayName": "Department", "oldValue": "Sales", "newValue": "[\"Ops\"]"})
    yield of({"displayName": "Department", "oldValue": "[\"A\"]", "newValue": "[\"B\"]"},
             {"displayName": "Department", "oldValue": "[\"C\"]", "newValue": "[\"D\"]"})
    yield of({"displayName": None, "oldValue": None, "newValue": "[1]"})
    yield {**plain, "id": "Directory_odd2", "targetResources": [{"displayName": "nobody"}]}
    # The same value in two spellings, and text that looks like JSON.
    yield of({"displayName": "Note", "oldValue": "[\"\\u0041\"]", "newValue": "\"A\""})
    yield of({"displayName": "Note", "oldValue": "\"[1]\"", "newValue": "[ {\"a\": [1, 2]} ]"})
    yield {**plain, "targetResources": [{"id": "t-odd"}]}
    yield {"event_type": "directory.read", "id": "Directory_odd3", "targetResources": [{"id": "t-odd"}]}
